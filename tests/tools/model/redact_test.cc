#include "tools/model/redact.h"

#include "tests/catch.h"
#include "tests/tools/full_verdict.h"
#include "tools/json/verdict_json.h"

namespace assay::tools {
namespace {

using namespace sandbox;
using testing::full_verdict;
using testing::kHiddenIds;

}  // namespace

TEST_CASE("a redacted verdict tells nothing about the hidden cases") {
  const Verdict shown = redact_hidden(full_verdict(), kHiddenIds);
  const std::string text = verdict_to_json(shown).dump();
  for (const char* secret : {"secret", "888", "31337"}) {
    INFO(secret << " in " << text);
    CHECK(text.find(secret) == std::string::npos);
  }
  REQUIRE(shown.cases.size() == 2);
  CHECK(shown.cases[0].first_mismatch.has_value());  // public cases are unchanged
  CHECK(shown.cases[0].elements == 4097);
  CHECK(shown.cases[1].id == "hidden_1");
  CHECK(shown.cases[1].outcome == Outcome::fail);
  CHECK_FALSE(shown.cases[1].first_mismatch.has_value());
  CHECK_FALSE(shown.cases[1].max_abs_error.has_value());
  CHECK(shown.perf == 1.25);
  CHECK(shown.hints ==
        std::vector<Hint>{{HintKind::would_be_slow, "small", "would be slow: one program"}});
  CHECK(shown.skipped_cases ==
        std::vector<SkippedCases>{
            {{"large"}, 2, SkipReason::too_large, "too large for the interpreter"},
            {{}, 2, SkipReason::hidden, "not run on this device"}});
}

TEST_CASE("a hint is removed if it is about a hidden case, or if its kind quotes the submission") {
  const auto shown = [](const Hint& hint) {
    Verdict v = full_verdict();
    v.hints = {hint};
    return !redact_hidden(v, kHiddenIds).hints.empty();
  };
  for (int i = 0; i <= static_cast<int>(HintKind::artifact_too_large) + 1; ++i) {
    const auto kind = static_cast<HintKind>(i);
    INFO(to_string(kind));
    const bool quotes = kind == HintKind::other || kind == HintKind::not_recorded ||
                        kind >= HintKind::artifact_too_large;  // the last one has no name
    for (const char* words : {"", "any words", "could be recorded", "would be slow"}) {
      CHECK(shown({kind, "small", words}) == !quotes);
      CHECK(shown({kind, "", words}) == !quotes);
      CHECK_FALSE(shown({kind, "secret_tail", words}));
    }
    CHECK_FALSE(shown({kind, "", "of case 'secret_half'"}));
  }
  Verdict early = full_verdict();  // a hint about a hidden case is removed even if no code ran
  early.outcome = Outcome::error;
  early.error_kind = ErrorKind::syntax_error;
  early.stage = Stage::import;
  CHECK(redact_hidden(early, kHiddenIds).hints.size() == 1);
}

TEST_CASE("a graded submission cannot reveal its inputs through an exception") {
  Verdict v = full_verdict();
  v.language = "python";
  v.outcome = Outcome::error;
  v.error_kind = ErrorKind::value_error;
  v.stage = Stage::run;
  v.cases.clear();
  v.diagnostic->message = "x has 888888 elements";
  v.diagnostic->traceback = v.diagnostic->subject = "888888";
  v.summary = "error (value_error): 888888";
  v.detail = "888888";
  const Verdict shown = redact_hidden(v, kHiddenIds);
  CHECK(verdict_to_json(shown).dump().find("888888") == std::string::npos);
  CHECK(shown.diagnostic->exception == "ValueError");
  CHECK(shown.diagnostic->line == 14);
  CHECK(shown.summary == "ended in stage run with ValueError at line 14: tl.load(x)");

  v.stage = Stage::import;  // code runs at import too
  v.diagnostic->exception = "n is 888888!";
  CHECK(verdict_to_json(redact_hidden(v, kHiddenIds)).dump().find("888888") == std::string::npos);
  v.error_kind = ErrorKind::syntax_error;  // no code ran, so the message is harmless
  v.diagnostic->message = "expected ':'";
  CHECK(redact_hidden(v, kHiddenIds).diagnostic->message == "expected ':'");
}

TEST_CASE("a redacted message says what the submission lacks, but not in the submission's words") {
  Verdict v = full_verdict();
  v.language = "python";
  v.outcome = Outcome::error;
  v.error_kind = ErrorKind::missing_entry;
  v.stage = Stage::import;
  v.cases.clear();
  v.diagnostic = Diagnostic{.exception = "MissingEntry",
                            .message = "the source does not define `f`; it defines n888888",
                            .line = {},
                            .code = "",
                            .traceback = ""};
  v.summary = v.detail = "MissingEntry: it defines n888888";
  Verdict shown = redact_hidden(v, kHiddenIds);
  CHECK(verdict_to_json(shown).dump().find("888888") == std::string::npos);
  CHECK(shown.diagnostic->message == "the source does not define the entry function");

  v.language = "cuda";  // reading a manifest runs no code
  v.error_kind = ErrorKind::value_error;
  v.diagnostic->message = "launch 1 has no grid";
  v.stdout_text = v.stderr_text = "";
  CHECK(redact_hidden(v, kHiddenIds).diagnostic->message == "launch 1 has no grid");
  v.stage = Stage::record;  // here the manifest is evaluated for the hidden cases
  v.diagnostic->message = "grid is 888888";
  v.detail = v.summary = "888888";
  CHECK(verdict_to_json(redact_hidden(v, kHiddenIds)).dump().find("888888") == std::string::npos);
}

TEST_CASE("a verdict on public cases is not redacted") {
  Verdict v = full_verdict();
  v.kind = JobKind::test;
  v.cases.pop_back();
  CHECK(verdict_to_json(redact_hidden(v, kHiddenIds)) == verdict_to_json(v));
}

TEST_CASE("hints of a verdict of format 1 are removed, because they have no kind") {
  Verdict older = full_verdict();
  older.hints = {{HintKind::other, "", "would be slow: one program"}};
  CHECK(redact_hidden(older, kHiddenIds).hints.empty());
}

}  // namespace assay::tools
