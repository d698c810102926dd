#include "server/report/model/label.h"

#include "tests/catch.h"

using namespace assay::report;
using assay::sandbox::ErrorKind;
using assay::sandbox::Outcome;
using assay::sandbox::Stage;

TEST_CASE("labels") {
  CHECK(label_of(Outcome::pass, ErrorKind::none, Stage::done, {}) == Label::pass);
  const sandbox::Hint slow{sandbox::HintKind::would_be_slow, "", "any words"};
  const sandbox::Hint other{sandbox::HintKind::other, "", "would be slow: 1 program"};
  CHECK(label_of(Outcome::pass, ErrorKind::none, Stage::done, {other, slow}) == Label::slow);
  CHECK(label_of(Outcome::pass, ErrorKind::none, Stage::done, {other}) == Label::pass);
  CHECK(label_of(Outcome::fail, ErrorKind::output_mismatch, Stage::judge, {slow}) == Label::wrong);
  CHECK(label_of(Outcome::error, ErrorKind::attribute_error, Stage::compile, {}) ==
        Label::no_compile);
  CHECK(label_of(Outcome::error, ErrorKind::attribute_error, Stage::import, {}) == Label::error);
  CHECK(label_of(Outcome::error, ErrorKind::unsupported, Stage::compile, {}) == Label::needs_gpu);
}
