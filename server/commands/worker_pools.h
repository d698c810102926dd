// Makes the pools of workers that the options --workers and --worker-command name, and checks them
// for `assay doctor`.
//
//   auto options = std::make_shared<WorkerPoolOptions>();
//   add_worker_options(*command, *options);
//   // After the command line is parsed:
//   const Result<std::vector<PoolSettings>> pools = chosen_pools(*options);
//   if (!pools) return fail(pools.error());
//
// The functions must be called by the thread that parses the command line.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "sandbox/job/config.h"
#include "server/app/workspace.h"
#include "server/commands/server_check.h"
#include "server/workers/pool_settings.h"
#include "server/workers/remote_device.h"

namespace assay::server {

struct WorkerPoolOptions {
  std::string file;        // a file with pools, or empty
  std::string command;     // the command of one more pool, or empty
  std::int64_t count = 1;  // the most workers that `command` starts
};

void add_worker_options(CLI::App& command, WorkerPoolOptions& options);
/// Returns the options as command-line arguments. Paths become absolute.
std::vector<std::string> arguments_of(const WorkerPoolOptions& options);

/// Returns the pools that the options describe; none if no option is given. Errors: those of
/// read_pools() and check_pool().
Result<std::vector<PoolSettings>> chosen_pools(const WorkerPoolOptions& options);

/// Creates the pools, which start their workers in the background. The workspace must outlive them.
/// With strict isolation, a worker is refused if its sandbox lacks a layer.
/// Error: io if the folder for the workers' logs cannot be made.
Result<std::vector<std::unique_ptr<RemoteDevice>>> make_pools(
    const std::vector<PoolSettings>& pools, const Workspace& workspace,
    const sandbox::SandboxConfig& config);

std::vector<FleetReport> reports_of(const std::vector<const RemoteDevice*>& pools);

/// Starts one worker of each pool, and returns what came of it. Waits at most `limit_ms` for each.
std::vector<Finding> check_pools(const std::vector<PoolSettings>& pools, const Workspace& workspace,
                                 const sandbox::SandboxConfig& config, std::int64_t limit_ms);

}  // namespace assay::server
