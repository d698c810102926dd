// The attempts that a bench has left to do: opens the runs that are missing, and counts what
// earlier parts did and paid.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "base/result.h"
#include "server/bench/plan.h"
#include "server/bench/progress.h"
#include "server/mcp/client/client.h"

namespace assay::server {

/// One attempt.
struct BenchTask {
  std::size_t pair = 0;
  std::int64_t sample = 1;
  std::string run;
  std::string operator_name;
  std::string name;  // for a person
  std::filesystem::path transcript;
};

/// DIRECTORY/transcripts/OPERATOR.SAMPLE.jsonl
std::filesystem::path transcript_path(const std::filesystem::path& directory, std::int64_t sample,
                                      const std::string& operator_name);

/// Sample by sample, operator by operator, and within that pair by pair: a bench that is stopped
/// early has given each pair as much. Journals the runs that it opens; fills `runs` and `attempts`
/// of `ends`. An Error when the server refuses, or does not know a run any more.
Result<std::vector<BenchTask>> open_tasks(mcp::Client& client, const BenchPlan& plan,
                                          std::vector<PairEnd>& ends);

/// What earlier parts of the bench took from the spending limit, in US dollars: finished attempts,
/// and replies whose attempts were cut short. Also what was only charged (a reply without token
/// counts), as it was then.
Result<double> spent_before(const BenchPlan& plan, const std::vector<BenchTask>& tasks);

/// By pair, with what earlier parts finished.
std::vector<ProgressGroup> progress_groups(const BenchPlan& plan, const std::vector<PairEnd>& ends);

}  // namespace assay::server
