// What a bench prints at its end: one report for each pair of agent and model, over all its
// samples, and a table that compares them.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "base/result.h"
#include "operators/catalog.h"
#include "server/bench/plan.h"
#include "server/mcp/client/client.h"

namespace assay::server {

/// From a store of our own. Errors: those of read_report().
Result<std::string> reports_text(const std::filesystem::path& store,
                                 const operators::Catalog& catalog,
                                 const std::vector<PairEnd>& ends);

/// In a foreign server's words, run by run; the comparison is made of what it says of each
/// operator.
Result<std::string> reports_text(mcp::Client& client, const BenchPlan& plan,
                                 const std::vector<PairEnd>& ends);

}  // namespace assay::server
