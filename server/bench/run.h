// Runs a bench: connects to its server, lists the attempts that remain, and makes these attempts
// with `jobs` threads. The end of each attempt is written to the journal.
//
//   Result<std::unique_ptr<mcp::Client>> client = connect_bench(options, store);
//   Result<std::vector<PairEnd>> ends = run_bench(**client, plan);
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "reference_agents/core/attempt.h"
#include "reference_agents/llm/spending.h"
#include "server/bench/options.h"
#include "server/bench/plan.h"
#include "server/bench/progress.h"
#include "server/mcp/client/client.h"
#include "server/report/model/label.h"

namespace assay::bench {

/// With --server, connects to that server. Otherwise starts a server that uses `store`; this server
/// stops when the client is destroyed. Before the start, removes the models' API keys from the
/// environment. The models' clients must have read the keys before that. Error: unavailable if the
/// server does not start or does not answer.
Result<std::unique_ptr<mcp::Client>> connect_bench(const BenchOptions& options,
                                                   const std::filesystem::path& store);

/// Makes all attempts of the plan. Returns one entry for each pair, in the order of the plan.
/// Returns an error if no attempt could be started. `clock` measures the attempts and the time
/// limit.
Result<std::vector<PairEnd>> run_bench(mcp::Client& client, const BenchPlan& plan,
                                       const Clock& clock = system_clock());

/// An attempt that has not finished yet.
struct BenchTask {
  std::size_t pair = 0;
  std::int64_t sample = 1;
  std::string run;
  std::string operator_name;
  std::string name;  // the name in the progress lines
  std::filesystem::path transcript;
};

/// Returns DIRECTORY/transcripts/OPERATOR.SAMPLE.jsonl.
std::filesystem::path transcript_path(const std::filesystem::path& directory, std::int64_t sample,
                                      const std::string& operator_name);

/// Starts the runs that do not exist yet and writes them to the journals. Sets `runs` and
/// `attempts` in `ends`. Returns the attempts that remain, sorted by sample, then operator, then
/// pair. Because of this order, a bench that stops early has tried each pair about equally often.
/// Returns an error if the server refuses a run or no longer has a run.
Result<std::vector<BenchTask>> open_tasks(mcp::Client& client, const BenchPlan& plan,
                                          std::vector<PairEnd>& ends);

/// Returns the amount in US dollars that was charged to the spending limit before the bench was
/// resumed. The amount covers finished attempts, and replies of interrupted attempts. A reply
/// without token counts adds the amount that was charged when it arrived.
Result<double> spent_before(const BenchPlan& plan, const std::vector<BenchTask>& tasks);

/// Returns the progress of each pair, including the attempts that were finished before the bench
/// was resumed.
std::vector<ProgressGroup> progress_groups(const BenchPlan& plan, const std::vector<PairEnd>& ends);

struct BenchAttempt {
  agents::Attempt end;
  /// A text that says how a replayed attempt differs from the recorded attempt. Empty if it does
  /// not differ.
  std::string replay;
};

/// What learns of the progress of an attempt. Both functions can be empty.
struct AttemptWatcher {
  std::function<void(const std::string& step)> step = {};    // before each step
  std::function<void(const std::string& text)> notice = {};  // before an endpoint is asked again
};

/// Makes one attempt with the pair's model or with recorded replies. If an earlier process has left
/// a transcript of this attempt, the attempt continues where the transcript ends. An error means
/// that the attempt did not finish. Thread-safe.
Result<BenchAttempt> make_attempt(mcp::Client& client, agents::SpendingBudget& budget,
                                  const BenchPlan& plan, const BenchTask& task,
                                  const AttemptWatcher& watcher);

/// Returns the label of an attempt that ended with this outcome because no reply held complete
/// code. Returns nothing for every other outcome.
std::optional<report::Label> label_without_submission(const std::string& outcome);

/// Returns the label that a report gives to the attempt.
report::Label label_of(const agents::Attempt& attempt);
/// Returns the text that follows the label on the attempt's progress line.
std::string explanation_of(const BenchAttempt& made);

}  // namespace assay::bench
