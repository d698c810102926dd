#include "server/observe/worker_metrics.h"

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace assay::server {
namespace {

struct Row {
  std::string_view name;
  std::int64_t FleetReport::*member;
};

constexpr std::array kStates{Row{"starting", &FleetReport::starting},
                             Row{"idle", &FleetReport::idle}, Row{"busy", &FleetReport::busy},
                             Row{"draining", &FleetReport::draining}};

struct Family {
  std::string_view name, type, help;
  std::int64_t FleetReport::*member;
};

constexpr std::array kFamilies{
    Family{"assay_workers_quarantined", "gauge", "Machines whose health check was wrong or off.",
           &FleetReport::quarantined},
    Family{"assay_worker_jobs_waiting", "gauge", "Running jobs that wait for a free worker.",
           &FleetReport::waiting},
    Family{"assay_worker_starts_total", "counter", "Workers that were started.",
           &FleetReport::starts},
    Family{"assay_worker_failed_starts_total", "counter",
           "Workers that did not start, were refused or failed their health check.",
           &FleetReport::failed_starts},
    Family{"assay_worker_losses_total", "counter", "Workers that were lost.", &FleetReport::losses},
    Family{"assay_worker_late_messages_total", "counter",
           "Messages of workers about executions that had ended; they are ignored.",
           &FleetReport::late_messages}};

}  // namespace

void write_worker_metrics(mcp::MetricsText& text, const std::vector<FleetReport>& pools) {
  if (pools.empty()) return;
  text.family("assay_workers", "gauge", "Workers of a pool, by state.");
  for (const FleetReport& pool : pools) {
    for (const Row& state : kStates)
      text.sample("assay_workers", {{"pool", pool.pool}, {"state", state.name}},
                  static_cast<double>(pool.*state.member));
  }
  for (const Family& family : kFamilies) {
    text.family(family.name, family.type, family.help);
    for (const FleetReport& pool : pools)
      text.sample(family.name, {{"pool", pool.pool}}, static_cast<double>(pool.*family.member));
  }
  text.family("assay_worker_pool", "gauge",
              "A pool with the role of its workers, and the pool that records for it, with the "
              "value 1.");
  for (const FleetReport& pool : pools)
    text.sample("assay_worker_pool",
                {{"pool", pool.pool}, {"role", pool.role}, {"records", pool.records}}, 1);
  text.family("assay_worker_class", "gauge",
              "The GPU of all workers of a pool, with its highest clock, with the value 1.");
  for (const FleetReport& pool : pools) {
    const sandbox::DeviceClass& gpu = pool.hardware;
    if (gpu.name.empty()) continue;
    text.sample("assay_worker_class",
                {{"pool", pool.pool},
                 {"gpu", gpu.name},
                 {"memory_bytes", std::to_string(gpu.memory_bytes)},
                 {"driver", gpu.driver},
                 {"clock_khz", std::to_string(gpu.clock_khz)},
                 {"bandwidth_bytes_per_s", std::to_string(gpu.bandwidth_bytes_per_s)}},
                1);
  }
  text.family("assay_worker_missing_layers", "gauge",
              "Workers whose sandboxes lack these isolation layers.");
  for (const FleetReport& pool : pools) {
    for (const auto& [layers, workers] : pool.missing_layers)
      text.sample("assay_worker_missing_layers", {{"pool", pool.pool}, {"layers", layers}},
                  static_cast<double>(workers));
  }
  text.family("assay_worker_problem", "gauge",
              "Why the last worker failed, was refused or was lost, and what the engine says, with "
              "the value 1.");
  for (const FleetReport& pool : pools) {
    if (pool.problem.empty() && pool.engine.empty()) continue;
    text.sample("assay_worker_problem",
                {{"pool", pool.pool}, {"problem", pool.problem}, {"engine", pool.engine}}, 1);
  }
}

}  // namespace assay::server
