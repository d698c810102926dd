// Runs a bench: connects to its server, lists the attempts that are left, and makes them with
// `jobs` threads. The end of each attempt is journalled.
//
//   Result<std::unique_ptr<mcp::Client>> client = connect_bench(options, store);
//   Result<std::vector<PairEnd>> ends = run_bench(**client, plan);
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
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

/// Starts a server with `store` that ends with the bench, or connects to --server. Before it starts
/// one it removes the keys of the models from the environment; the clients of the models have read
/// them by then. Error: unavailable, if the server does not start or does not answer.
Result<std::unique_ptr<mcp::Client>> connect_bench(const BenchOptions& options,
                                                   const std::filesystem::path& store);

/// Runs the plan to its end. Returns one entry for each pair, in the order of the plan. Fails if
/// nothing could be started. `clock` measures the attempts and the time limit.
Result<std::vector<PairEnd>> run_bench(mcp::Client& client, const BenchPlan& plan,
                                       const Clock& clock = system_clock());

/// An attempt that is left to do.
struct BenchTask {
  std::size_t pair = 0;
  std::int64_t sample = 1;
  std::string run;
  std::string operator_name;
  std::string name;  // as lines of progress show it
  std::filesystem::path transcript;
};

/// Returns DIRECTORY/transcripts/OPERATOR.SAMPLE.jsonl.
std::filesystem::path transcript_path(const std::filesystem::path& directory, std::int64_t sample,
                                      const std::string& operator_name);

/// Opens and journals the runs that are missing, fills `runs` and `attempts` of `ends`, and returns
/// the attempts that are left. They are in the order of samples, then operators, then pairs, so
/// that a bench that stops early has tried each pair equally often. Fails if the server refuses a
/// run or no longer knows it.
Result<std::vector<BenchTask>> open_tasks(mcp::Client& client, const BenchPlan& plan,
                                          std::vector<PairEnd>& ends);

/// Returns the US dollars that earlier parts of the bench charged to the spending limit, for
/// finished attempts and for replies of attempts that were cut short. A reply without token counts
/// counts what it was charged then.
Result<double> spent_before(const BenchPlan& plan, const std::vector<BenchTask>& tasks);

/// Returns the progress of each pair, with the attempts that earlier parts of the bench finished.
std::vector<ProgressGroup> progress_groups(const BenchPlan& plan, const std::vector<PairEnd>& ends);

struct BenchAttempt {
  agents::Attempt end;
  std::string replay;  // how a replayed attempt differs from the recorded one; empty: not at all
};

/// Makes one attempt with the pair's model or with recorded replies. It continues from its
/// transcript, if there is one. An error means that the attempt did not finish. Thread-safe.
Result<BenchAttempt> make_attempt(mcp::Client& client, agents::SpendingBudget& budget,
                                  const BenchPlan& plan, const BenchTask& task,
                                  const std::function<void(const std::string& step)>& step);

/// Returns the label that a report will give to the attempt.
report::Label label_of(const agents::Attempt& attempt);
/// Returns the text beside the label on the attempt's line of progress.
std::string explanation_of(const BenchAttempt& made);

}  // namespace assay::bench
