// The server that a bench works against: one of its own, which ends with it, or a running one.
//
//   auto client = connect_bench(options, store);
#pragma once

#include <filesystem>
#include <memory>

#include "base/result.h"
#include "server/bench/options.h"
#include "server/mcp/client/client.h"

namespace assay::server {

/// `store`: of a server of our own. The models' keys are forgotten before that is started: whoever
/// needs one has it by then. unavailable when it does not start, or no server answers.
Result<std::unique_ptr<mcp::Client>> connect_bench(const BenchOptions& options,
                                                   const std::filesystem::path& store);

}  // namespace assay::server
