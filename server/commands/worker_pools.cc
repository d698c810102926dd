#include "server/commands/worker_pools.h"

#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <system_error>
#include <utility>

#include "base/handle.h"
#include "base/log.h"
#include "base/text.h"
#include "sandbox/device/record_device.h"
#include "sandbox/job/harness_digest.h"
#include "sandbox/pool/process.h"
#include "server/workers/worker_messages.h"
#include "server/workers/worker_stream.h"
#include "tools/model/operator_job.h"

namespace assay::server {
namespace {

constexpr const char* kHealthOperator = "vector_add";

/// Returns the operator whose oracle is the health check, or null if no oracle can be one.
const operators::Operator* health_operator(const operators::Catalog& catalog) {
  if (const operators::Operator* op = catalog.find(kHealthOperator)) return op;
  for (const operators::Operator& op : catalog.all()) {
    if (!op.imported && !op.oracle_source.empty()) return &op;
  }
  return nullptr;
}

MakeHealthJob health_job_of(const operators::Catalog& catalog) {
  const operators::Operator* op = health_operator(catalog);
  if (op == nullptr || op->oracle_source.empty()) {
    log::warning("workers are not examined, because no operator has an oracle", {});
    return nullptr;
  }
  return [op](const sandbox::DeviceInfo& device) {
    // A worker that only records compiles the oracle.
    const bool records = device.name == sandbox::kRecordDevice;
    const auto kind = records           ? sandbox::JobKind::compile
                      : device.can_time ? sandbox::JobKind::profile
                                        : sandbox::JobKind::test;
    sandbox::Job job = tools::operator_job(*op, kind, op->oracle_source);
    job.id = new_handle("job");
    // The largest case takes longest, so its time is the most exact one.
    if (device.can_time && !tools::choose_case(job, "")) job.cases.clear();
    return job;
  };
}

WorkerRevision revision_of(const Workspace& workspace, const sandbox::SandboxConfig& config) {
  return {.assay = ASSAY_VERSION,
          .harness = sandbox::harness_digest(config.harness_dir),
          .suite = workspace.catalog.suite().digest,
          .device = {},
          .strict = config.isolation == sandbox::Isolation::strict};
}

/// Returns the device of a worker in words. What the worker says is escaped.
std::string described(const sandbox::DeviceInfo& device) {
  const sandbox::DeviceClass& gpu = device.hardware;
  std::string description = escape_text(device.description);
  if (gpu.name.empty()) return description;
  return description + ", highest clock " + std::to_string(gpu.clock_khz / 1'000) +
         " MHz, bandwidth " + std::to_string(gpu.bandwidth_bytes_per_s / 1'000'000'000) + " GB/s";
}

std::string described_sandbox(const std::vector<sandbox::LayerReport>& layers) {
  if (layers.empty()) return "it has no sandbox, because it runs no submissions";
  const std::string missing = missing_layers(layers);
  if (missing.empty())
    return "all " + std::to_string(layers.size()) + " layers of its sandbox work";
  return "its sandbox lacks these layers: " + missing;
}

/// Makes the folder for what the workers' commands write to stderr.
Result<std::string> log_folder(const Workspace& workspace) {
  const std::filesystem::path folder = workspace.paths.state / "workers";
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error)
    return fail(ErrorCode::io,
                "cannot make the folder " + folder.string() + ": " + error.message());
  return folder.string();
}

}  // namespace

void add_worker_options(CLI::App& command, WorkerPoolOptions& options) {
  command.add_option("--workers", options.file,
                     "a TOML file of pools: commands that start workers, on this machine or on "
                     "others, each of which is a device of the server");
  auto* single = command.add_option(
      "--worker-command", options.command,
      std::string("start workers with this command, as the pool '") + kCommandPool + "'");
  command
      .add_option("--worker-count", options.count, "the most workers that --worker-command starts")
      ->check(CLI::Range(std::int64_t{1}, kMostWorkers))
      ->needs(single)
      ->capture_default_str();
}

std::vector<std::string> arguments_of(const WorkerPoolOptions& options) {
  std::vector<std::string> arguments;
  if (!options.file.empty())
    arguments = {"--workers", std::filesystem::absolute(options.file).string()};
  if (!options.command.empty())
    arguments.insert(arguments.end(), {"--worker-command", options.command, "--worker-count",
                                       std::to_string(options.count)});
  return arguments;
}

Result<std::vector<PoolSettings>> chosen_pools(const WorkerPoolOptions& options) {
  std::vector<PoolSettings> pools;
  if (!options.file.empty()) {
    ASSAY_TRY(read, read_pools(options.file));
    pools = std::move(read);
  }
  if (options.command.empty()) return pools;
  PoolSettings single;
  single.name = kCommandPool;
  single.command = options.command;
  single.most = options.count;
  ASSAY_RETURN_IF_ERROR(check_pool(single));
  for (const PoolSettings& pool : pools) {
    if (pool.name == single.name)
      return fail(ErrorCode::invalid_argument, options.file + ": the name '" + pool.name +
                                                   "' belongs to the pool of --worker-command");
  }
  pools.push_back(std::move(single));
  return pools;
}

Result<std::vector<std::unique_ptr<RemoteDevice>>> make_pools(
    const std::vector<PoolSettings>& pools, const Workspace& workspace,
    const sandbox::SandboxConfig& config) {
  std::vector<std::unique_ptr<RemoteDevice>> made;
  if (pools.empty()) return made;
  ASSAY_TRY(logs, log_folder(workspace));
  WorkerRevision revision = revision_of(workspace, config);
  const MakeHealthJob health_job = health_job_of(workspace.catalog);
  std::map<std::string, std::shared_ptr<RecordPool>> recording;
  for (const PoolSettings& pool : pools) {
    if (pool.role != kRoleRecord) continue;
    revision.role = pool.role;
    recording[pool.name] = std::make_shared<RecordPool>(pool, revision, logs, health_job);
  }
  for (const PoolSettings& pool : pools) {
    if (pool.role == kRoleRecord) continue;
    revision.device = pool.device;
    revision.role = pool.role;
    const std::shared_ptr<RecordPool> records =
        pool.role == kRoleLaunch ? recording.at(pool.records) : nullptr;
    made.push_back(std::make_unique<RemoteDevice>(pool, revision, logs, health_job, records));
  }
  return made;
}

std::vector<FleetReport> reports_of(const std::vector<const RemoteDevice*>& pools) {
  std::vector<FleetReport> reports;
  std::set<const RecordPool*> seen;
  for (const RemoteDevice* pool : pools) {
    reports.push_back(pool->report());
    const RecordPool* records = pool->records();
    if (records != nullptr && seen.insert(records).second) reports.push_back(records->report());
  }
  return reports;
}

std::vector<Finding> check_pools(const std::vector<PoolSettings>& pools, const Workspace& workspace,
                                 const sandbox::SandboxConfig& config, std::int64_t limit_ms) {
  std::vector<Finding> findings;
  const Result<std::string> logs = log_folder(workspace);
  if (!logs) return {{"workers", Finding::State::problem, logs.error().message}};
  sandbox::Spawner spawner;
  WorkerRevision revision = revision_of(workspace, config);
  for (const PoolSettings& pool : pools) {
    Finding finding{.name = "pool " + pool.name, .state = Finding::State::problem, .text = {}};
    revision.device = pool.device;
    revision.role = pool.role;
    const auto stream =
        WorkerStream::start(spawner, pool.command, *logs + "/doctor-" + pool.name + ".log");
    Result<WorkerHello> hello =
        stream ? (*stream)->greet(sandbox::Deadline::after_ms(limit_ms), revision)
               : Result<WorkerHello>(fail(stream.error()));
    if (hello) {
      finding.state = Finding::State::good;
      finding.text = "a worker on " + escape_text(hello->host) + " has role " + pool.role +
                     " and device " + escape_text(hello->device.name) + ": " +
                     described(hello->device) + "; " + described_sandbox(hello->layers);
    } else {
      finding.text = hello.error().message;
    }
    if (stream) {
      (*stream)->end_input();
      (*stream)->finish(hello ? kSilenceMs : 0);
    }
    findings.push_back(std::move(finding));
  }
  return findings;
}

}  // namespace assay::server
