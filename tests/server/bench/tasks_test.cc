// What a bench that goes on counts as spent.
#include "server/bench/tasks.h"

#include <filesystem>

#include "base/clock.h"
#include "base/handle.h"
#include "reference_agents/core/transcript.h"
#include "tests/catch.h"

using namespace assay;
using namespace assay::bench;

namespace {

struct Scratch {
  std::filesystem::path dir =
      std::filesystem::temp_directory_path() / new_handle("bench_tasks_test");
  ~Scratch() { std::filesystem::remove_all(dir); }
};

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

}  // namespace

TEST_CASE(
    "what was spent before is what was charged then: also the worst case of a reply without "
    "usage") {
  Scratch scratch;
  const auto journal = BenchJournal::open(
      scratch.dir, {"one_shot", "openai:m", "all", "cpu", "", "/s.db", 1}, false);
  REQUIRE(journal);
  BenchPlan plan;
  plan.pairs.emplace_back();
  plan.pairs[0].price =
      agents::Price{1'000'000, 1'000'000, "test", "2026-01-01"};  // a dollar a token
  plan.pairs[0].journal = journal->get();
  plan.pairs[0].directory = scratch.dir;
  const std::vector<BenchTask> tasks = {
      {0, 1, "run_a", "x", "x", transcript_path(scratch.dir, 1, "x")},
      {0, 1, "run_a", "never_begun", "never_begun",
       transcript_path(scratch.dir, 1, "never_begun")}};
  write_replies(tasks[0].transcript,
                {{"a", "stop", 2, 3, true, 5.0},   // counted
                 {"b", "stop", 0, 0, false, 7.0},  // no usage: its worst case
                 {"c", "stop", 1, 1, true, {}}});  // of a transcript that says nothing of charges
  const Result<double> spent = spent_before(plan, tasks);
  REQUIRE(spent);
  CHECK(*spent == Approx(14));
}
