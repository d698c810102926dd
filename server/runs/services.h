// Everything the tools need, over one store: runs, jobs, artifacts. What `serve`, `bench` and
// `report` put together.
//
//   Devices devices;
//   devices.emplace_back("cpu", std::move(*make_device("cpu", config)));
//   auto services = Backend::open("assay.db", catalog, std::move(devices));
//   if (!services) ...                        // unavailable or corrupt: kStoreUnusable
//   auto recovered = (*services)->recover();  // before the first tool call
//
// The catalog must outlive this object. Thread-safe but for open, recover and destruction.
// Destruction stops the running jobs and leaves them unfinished in the store: recover() at the next
// start takes them up.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "operators/catalog.h"
#include "server/runs/job_service.h"
#include "server/runs/run_service.h"
#include "server/store/store.h"
#include "tools/model/services.h"

namespace assay::server {

struct ServicesOptions {
  StoreMode mode =
      StoreMode::read_write;  // read_only: for reports; start, charge, submit and put are refused
  QueueLimits queue;
  const Clock* clock = nullptr;  // null: the system's; else it must outlive the services
};

class Backend {
 public:
  static Result<std::unique_ptr<Backend>> open(const std::filesystem::path& store,
                                               const operators::Catalog& catalog, Devices devices,
                                               const ServicesOptions& options = {});
  virtual ~Backend() = default;

  virtual StoredRuns& runs() = 0;
  virtual tools::JobService& jobs() = 0;
  virtual tools::ArtifactService& artifacts() = 0;
  virtual Store& store() = 0;
  /// What waits and what runs on each device, now.
  virtual std::vector<StoredJobs::Load> load() const = 0;
  /// Re-queues the unfinished jobs whose source is stored and whose device is here; marks the
  /// others aborted.
  virtual Result<Recovered> recover() = 0;
  /// Every run, newest first.
  virtual Result<std::vector<tools::RunInfo>> list_runs() = 0;
};

}  // namespace assay::server
