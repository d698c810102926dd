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
