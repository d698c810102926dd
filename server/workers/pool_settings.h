// PoolSettings describes one pool of workers: the command that starts a worker, and how many
// workers there may be. read_pools() reads the pools of a server from a TOML file
// (docs/reference/workers.md).
//
//   const Result<std::vector<PoolSettings>> pools = read_pools("/etc/assay/workers.toml");
//   if (!pools) return fail(pools.error());
//
// Plain values and pure functions, except that read_pools() reads a file.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace assay::server {

/// The roles of workers.
inline constexpr const char* kRoleAll = "all";
inline constexpr const char* kRoleRecord = "record";
inline constexpr const char* kRoleLaunch = "launch";
inline constexpr const char* kRoleNames = "all, record, launch";
bool is_role(std::string_view name);

struct PoolSettings {
  std::string name;     // the pool is a device of the server, with this name
  std::string command;  // starts one worker: "srun --gres=gpu:1 assay worker --device cuda:0"
  /// What the workers do: "all" runs whole jobs; "record" imports, compiles and records for a pool
  /// with role launch; "launch" performs, judges and times.
  std::string role = kRoleAll;
  std::string records;  // of a pool with role launch: the pool that records for it
  std::string device;   // the device that each worker must have: "cuda:0"; empty: any device
  std::int64_t least = 1, most = 1;   // numbers of workers
  std::int64_t jobs_per_worker = 1;   // the most jobs that one worker gets at a time
  std::int64_t idle_s = 600;          // a worker above `least` ends when it was idle so long
  std::int64_t start_s = 3'600;       // an engine may take so long to start a worker
  std::int64_t health_check_s = 300;  // the time between two health checks of a worker; 0: none
  std::int64_t quarantine_s = 600;  // a machine whose health check failed is refused for this time

  bool operator==(const PoolSettings&) const = default;
};

/// The highest number of workers of one pool.
inline constexpr std::int64_t kMostWorkers = 512;
inline constexpr std::int64_t kMostJobsPerWorker = 256;
inline constexpr std::int64_t kMaxPoolsFileBytes = 1 << 20;
/// The name of the pool that --worker-command makes.
inline constexpr const char* kCommandPool = "workers";

/// Checks one pool. Error: invalid_argument; the message names the field and its valid values.
Status check_pool(const PoolSettings& pool);

/// Checks that each pool with role launch names a pool with role record, and chooses it if there is
/// only one. Error: invalid_argument.
Status pair_pools(std::vector<PoolSettings>& pools);

/// Reads pools from the text of a TOML file. Errors: invalid_argument; the message names the field
/// and the valid fields or values.
Result<std::vector<PoolSettings>> parse_pools(std::string_view text);
/// Reads the file. Errors: not_found if there is no readable regular file; corrupt if the file is
/// larger than kMaxPoolsFileBytes; io; those of parse_pools(), with the path.
Result<std::vector<PoolSettings>> read_pools(const std::string& path);

}  // namespace assay::server
