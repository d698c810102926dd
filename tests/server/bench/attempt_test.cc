#include "server/bench/attempt.h"

#include "tests/catch.h"

using namespace assay;
using namespace assay::bench;

namespace {

agents::Attempt ended(const std::string& outcome, const std::string& error_kind,
                      const std::string& explanation) {
  agents::Attempt attempt;
  attempt.outcome = outcome;
  attempt.error_kind = error_kind;
  attempt.explanation = explanation;
  return attempt;
}

}  // namespace

TEST_CASE("what was never submitted is labelled as a report will label it") {
  CHECK(label_of(ended("error", agents::kPromptRefused, "")) == Label::missing);
  CHECK(label_of(ended("no_code", "", "")) == Label::missing);
  CHECK(label_of(ended("refused", "", "")) == Label::missing);
  CHECK(label_of(ended(kNoReply, "", "")) == Label::missing);
  CHECK(label_of(ended("error", "key_error", "")) == Label::error);
  CHECK(label_of(ended("fail", "wrong_result", "")) == Label::wrong);
  CHECK(label_of(ended("pass", "none", "")) == Label::pass);
}

TEST_CASE("a line says why, once, and how a replay differs") {
  CHECK(explanation_of({ended("fail", "wrong_result", "fail: 3 of 9 differ"), ""}) ==
        "3 of 9 differ");
  CHECK(explanation_of({ended("error", agents::kPromptRefused, "HTTP 400: filtered"), ""}) ==
        "HTTP 400: filtered");
  CHECK(explanation_of({ended("fail", "wrong_result", "fail: 3 of 9 differ"), "step 2: other"}) ==
        "replay: step 2: other; 3 of 9 differ");
  CHECK(explanation_of({ended(kNoReply, "", "replay: the transcript has no reply"),
                        "the transcript has no reply"}) == "replay: the transcript has no reply");
  agents::Attempt slow = ended("pass", "none", "pass: all cases");
  slow.hints = {{"spills", "spills 8 bytes"}, {"would_be_slow", "would be slow: 1 program"}};
  CHECK(explanation_of({slow, ""}) == "would be slow: 1 program");
}
