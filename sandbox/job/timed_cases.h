// Which of a job's cases are timed, and make up its Perf: those that move, or compute, at least an
// eighth of what the largest one does.
//
//   std::vector<bool> timed = worth_timing({{.bytes = 2e8, .flops = 6e7}, {.bytes = 1e5, .flops =
//   3e4}});      // {true, false}
//
// Small cases are there to be right. They take a GPU one to three microseconds, and as much as a
// tenth of that differs from one launcher process to the next, which no number of samples takes
// out: there are several to an operator, and they moved its Perf by some percent from one grade to
// the next (docs/explanation/timing.md). It is the spec's cost that decides, not a measured time,
// so that it is the same cases on every device and every day. Pure, thread-safe.
#pragma once

#include <vector>

#include "sandbox/job/job.h"

namespace assay::sandbox {

inline constexpr double kLeastCostShare = 0.125;

struct CaseCost {
  double bytes = 0, flops = 0;
};

std::vector<CaseCost> costs_of(const std::vector<CaseRecord>& records);

/// One for each cost. Where there are no costs (an imported operator, a simulated device), all.
std::vector<bool> worth_timing(const std::vector<CaseCost>& costs);

}  // namespace assay::sandbox
