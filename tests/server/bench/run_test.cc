#include "server/bench/run.h"

#include <filesystem>

#include "base/clock.h"
#include "reference_agents/core/transcript.h"
#include "tests/catch.h"
#include "tests/server/bench/scratch_folder.h"

using namespace assay;
using namespace assay::bench;
using report::Label;

namespace {

void write_replies(const std::filesystem::path& file,
                   const std::vector<agents::CompletionReply>& replies) {
  const SystemClock clock;
  Result<agents::Transcript> transcript = agents::Transcript::open(file, clock);
  REQUIRE(transcript);
  for (const agents::CompletionReply& reply : replies) {
    REQUIRE(transcript->prompt({"", {{"user", "write it"}}, {}, 100}));
    REQUIRE(transcript->reply(reply));
  }
}

agents::Attempt ended(const std::string& outcome, const std::string& error_kind,
                      const std::string& explanation) {
  agents::Attempt attempt;
  attempt.outcome = outcome;
  attempt.error_kind = error_kind;
  attempt.explanation = explanation;
  return attempt;
}

}  // namespace

TEST_CASE(
    "earlier spending is the sum of the charges, with the worst case for a reply without usage") {
  ScratchFolder scratch;
  auto journal = BenchJournal::open(scratch.path,
                                    {"one_shot", "openai:m", "all", "cpu", "", "/s.db", 1}, false);
  REQUIRE(journal);
  BenchModel model;
  model.price = agents::Price{1'000'000, 1'000'000, "test", "2026-01-01"};  // 1 dollar per token
  BenchPlan plan;
  plan.pairs.emplace_back();
  plan.pairs[0].model = &model;
  plan.pairs[0].journal = std::move(*journal);
  plan.pairs[0].directory = scratch.path;
  const std::vector<BenchTask> tasks = {
      {0, 1, "run_a", "x", "x", transcript_path(scratch.path, 1, "x")},
      {0, 1, "run_a", "never_begun", "never_begun",
       transcript_path(scratch.path, 1, "never_begun")}};
  write_replies(tasks[0].transcript,
                {{"a", "stop", 2, 3, true, 5.0},   // this charge counts
                 {"b", "stop", 0, 0, false, 7.0},  // no usage: the charge is the worst case
                 {"c", "stop", 1, 1, true, {}}});  // no charge: its two tokens cost 2 dollars
  const Result<double> spent = spent_before(plan, tasks);
  REQUIRE(spent);
  CHECK(*spent == Approx(14));
}

TEST_CASE("an attempt without a submission has the label that a report gives it") {
  CHECK(label_of(ended("error", agents::kPromptRefused, "")) == Label::missing);
  CHECK(label_of(ended("no_code", "", "")) == Label::no_code);
  CHECK(label_of(ended("truncated", "", "")) == Label::truncated);
  CHECK(label_of(ended("refused", "", "")) == Label::missing);
  CHECK(label_of(ended(kNoReply, "", "")) == Label::missing);
  CHECK(label_of(ended("error", "key_error", "")) == Label::error);
  CHECK(label_of(ended("fail", "wrong_result", "")) == Label::wrong);
  CHECK(label_of(ended("pass", "none", "")) == Label::pass);
}

TEST_CASE("a line of progress explains the outcome, and how a replay differs") {
  CHECK(explanation_of({ended("fail", "wrong_result", "fail: 3 of 9 differ"), ""}) ==
        "fail: 3 of 9 differ");
  CHECK(explanation_of({ended("error", agents::kPromptRefused, "HTTP 400: filtered"), ""}) ==
        "HTTP 400: filtered");
  CHECK(explanation_of({ended("fail", "wrong_result", "fail: 3 of 9 differ"), "step 2: other"}) ==
        "replay: step 2: other; fail: 3 of 9 differ");
  CHECK(explanation_of({ended(kNoReply, "", "replay: the transcript has no reply"),
                        "the transcript has no reply"}) == "replay: the transcript has no reply");
  agents::Attempt slow = ended("pass", "none", "pass: all cases");
  slow.hints = {{"spills", "spills 8 bytes"}, {"would_be_slow", "would be slow: 1 program"}};
  CHECK(explanation_of({slow, ""}) == "would be slow: 1 program");
}
