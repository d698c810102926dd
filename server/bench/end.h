// What a bench says once its attempts are over, after the reports, and the exit status that
// follows.
#pragma once

#include <vector>

#include "server/bench/plan.h"

namespace assay::server {

/// Of a replay, on stdout: which attempts did not go as recorded. kFail when there is one, kBadData
/// when a journal cannot be read.
int tell_replay(const BenchPlan& plan);

/// On stderr: what is left to do, and why; kError then. `status` where nothing is.
int tell_unfinished(const BenchPlan& plan, const std::vector<PairEnd>& ends, int status);

}  // namespace assay::server
