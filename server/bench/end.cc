#include "server/bench/end.h"

#include <algorithm>
#include <cstdio>
#include <string>

#include "server/app/exit_status.h"
#include "server/bench/replay.h"

namespace assay::server {
namespace {

constexpr const char* kCommand = "bench";

}  // namespace

int tell_replay(const BenchPlan& plan) {
  int status = kPass;
  for (const BenchPair& pair : plan.pairs) {
    const Result<JournalContent> recorded = read_journal(pair.recorded);
    const Result<JournalContent> replayed = read_journal(pair.directory);
    if (!recorded || !replayed)
      return print_error(kCommand, kBadData, (recorded ? replayed : recorded).error().message);
    const ReplayOutcome outcome = compare_replay(*recorded, *replayed);
    std::printf("\nReplay of %s\n%s", pair.recorded.c_str(), outcome.text.c_str());
    if (outcome.other + outcome.no_reply > 0) status = kFail;
  }
  std::fflush(stdout);
  return status;
}

int tell_unfinished(const BenchPlan& plan, const std::vector<PairEnd>& ends, int status) {
  std::size_t unfinished = 0;
  std::size_t attempts = 0;
  std::vector<std::string> reasons;
  for (std::size_t i = 0; i < ends.size(); ++i) {
    unfinished += ends[i].unfinished;
    attempts += ends[i].attempts;
    if (ends[i].unfinished == 0 || ends[i].stopped_by.empty()) continue;
    if (std::find(reasons.begin(), reasons.end(), ends[i].stopped_by) == reasons.end())
      reasons.push_back(ends[i].stopped_by);
  }
  if (unfinished == 0) return status;
  std::string why;
  for (const std::string& reason : reasons) why += "stopped: " + reason + "; ";
  const std::string all = plan.pairs.size() > 1
                              ? " attempts of " + std::to_string(plan.pairs.size()) + " pairs"
                              : " attempts";
  return print_error(kCommand, kError,
                     why + std::to_string(unfinished) + " of " + std::to_string(attempts) + all +
                         " are not finished; the same command with --resume continues");
}

}  // namespace assay::server
