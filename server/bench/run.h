// The work of a bench: `jobs` threads take one attempt after another, and each end is journalled.
//
//   Result<std::vector<PairEnd>> ends = run_bench(client, plan);
#pragma once

#include <vector>

#include "base/result.h"
#include "server/bench/plan.h"
#include "server/mcp/client/client.h"

namespace assay::server {

/// As many as there are pairs, in their order. An Error means that nothing could be started.
Result<std::vector<PairEnd>> run_bench(mcp::Client& client, const BenchPlan& plan);

}  // namespace assay::server
