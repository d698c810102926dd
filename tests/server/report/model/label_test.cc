
#include "server/report/model/label.h"

#include "tests/catch.h"

using namespace assay::report;
using assay::sandbox::ErrorKind;
using assay::sandbox::Hint;
using assay::sandbox::HintKind;
using assay::sandbox::Outcome;
using assay::sandbox::Stage;

TEST_CASE("labels follow the kind of an error or a hint, never its words") {
  CHECK(label_of(Outcome::pass, ErrorKind::none, Stage::done, {}) == Label::pass);
  const Hint slow{HintKind::would_be_slow, "", "any words"};
  const Hint other{HintKind::other, "", "would be slow: 1 program"};
  CHECK(label_of(Outcome::pass, ErrorKind::none, Stage::done, {other, slow}) == Label::slow);
  CHECK(label_of(Outcome::pass, ErrorKind::none, Stage::done, {other}) == Label::pass);
  CHECK(label_of(Outcome::fail, ErrorKind::output_mismatch, Stage::judge, {slow}) == Label::wrong);
  CHECK(label_of(Outcome::error, ErrorKind::attribute_error, Stage::compile, {}) ==
        Label::no_compile);
  CHECK(label_of(Outcome::error, ErrorKind::attribute_error, Stage::import, {}) == Label::error);
  CHECK(label_of(Outcome::error, ErrorKind::unsupported, Stage::compile, {}) == Label::needs_gpu);
}

using namespace assay::report;

namespace {

AnsweredBy answered_by(const std::string& label) { return parse_model_label(label).answered_by; }

}  // namespace

TEST_CASE("a label says whether a model answered") {
  CHECK(answered_by("scripted (no model)") == AnsweredBy::script);
  CHECK(answered_by("sim:7?wrong=0.5 (no model)") == AnsweredBy::script);
  CHECK(answered_by("replay of openai:gpt-5 (no model)") == AnsweredBy::recording);
  CHECK(answered_by("openai:gpt-5") == AnsweredBy::model);
  CHECK(answered_by("replay of a film") == AnsweredBy::model);
  CHECK(answered_by("") == AnsweredBy::model);
  CHECK(parse_model_label("sim:7 (no model)").name == "sim:7");
  CHECK(parse_model_label("replay of openai:gpt-5 (no model)").name == "openai:gpt-5");
}

TEST_CASE("a replay is labelled once, however often it is repeated") {
  CHECK(replay_label("openai:gpt-5") == "replay of openai:gpt-5 (no model)");
  CHECK(replay_label("sim:7 (no model)") == "replay of sim:7 (no model)");
  CHECK(replay_label(replay_label("openai:gpt-5")) == "replay of openai:gpt-5 (no model)");
}
