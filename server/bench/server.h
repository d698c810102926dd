// Connects a bench to its server: it starts one that ends with the bench, or uses a running one.
//
//   auto client = connect_bench(options, store);
#pragma once

#include <filesystem>
#include <memory>

#include "base/result.h"
#include "server/bench/options.h"
#include "server/mcp/client/client.h"

namespace assay::bench {

/// Starts a server with `store`, or connects to --server. Before it starts one it removes the keys
/// of the models from the environment: the clients of the models have read them by then.
/// unavailable if the server does not start or does not answer.
Result<std::unique_ptr<mcp::Client>> connect_bench(const BenchOptions& options,
                                                   const std::filesystem::path& store);

}  // namespace assay::bench
