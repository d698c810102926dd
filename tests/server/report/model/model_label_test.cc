#include "server/report/model/model_label.h"

#include "tests/catch.h"

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
