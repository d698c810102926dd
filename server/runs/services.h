// ServerServices provides the services that the tools need, all based on one store: runs, jobs,
// artifacts and tasks. The commands `serve`, `bench` and `report` use it.
//
//   Devices devices;
//   devices.emplace_back("cpu", std::move(*make_device("cpu", config)));
//   Result<std::unique_ptr<ServerServices>> services =
//       ServerServices::open("assay.db", catalog, std::move(devices));
//   if (!services) return fail(services.error());  // the code is unavailable or corrupt
//   Result<Recovered> recovered = (*services)->jobs().recover();  // before any tool call
//   StoredTasks tasks((*services)->store());
//
// The catalog must outlive the ServerServices object. This object owns the store, so it must
// outlive the StoredTasks object. All classes are thread-safe, except for open() and destruction.
// The destructor stops the running jobs and leaves them unfinished in the store.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "operators/catalog.h"
#include "server/mcp/core/task.h"
#include "server/runs/job_service.h"
#include "server/runs/practice_store.h"
#include "server/runs/run_service.h"
#include "server/store/store.h"
#include "tools/model/services.h"

namespace assay::server {

/// The maximum number of bytes that one read of an artifact returns.
inline constexpr std::int64_t kMaxSliceBytes = 1LL << 20;

/// Reads artifacts from the store.
class StoredArtifacts final : public tools::ArtifactService {
 public:
  explicit StoredArtifacts(Store& store) : store_(store) {}

  Result<tools::ArtifactSlice> read(const tools::Principal& principal, const std::string& artifact,
                                    std::int64_t offset, std::int64_t limit_bytes) override;
  std::vector<std::pair<std::string, std::string>> list(const std::string& job) override;

 private:
  Store& store_;
};

/// Stores the tasks of the MCP protocol.
class StoredTasks final : public mcp::TaskStore {
 public:
  explicit StoredTasks(Store& store) : store_(store) {}
  Status save(const mcp::TaskRecord& record) override { return store_.save_task(record); }
  Result<std::optional<mcp::TaskRecord>> load(const std::string& id) override {
    return store_.task(id);
  }

 private:
  Store& store_;
};

struct ServicesOptions {
  /// Reports use read_only, which refuses writes. A server uses write_when_possible.
  StoreMode mode = StoreMode::read_write;
  QueueLimits queue = {};
  StoreLimits store = {};
  RateLimit run_starts = kRunStarts;  // of each principal
  JobObserver job_ended = nullptr;    // learns of each verdict; null: nobody does
  /// If another process uses the store: open a temporary store, and allow practice only.
  bool practice_if_in_use = false;
  const Clock* clock = nullptr;  // null: the system clock; otherwise it must outlive the services
};

class ServerServices {
 public:
  static Result<std::unique_ptr<ServerServices>> open(const std::filesystem::path& store,
                                                      const operators::Catalog& catalog,
                                                      Devices devices,
                                                      const ServicesOptions& options = {});
  ServerServices(StoreChoice store, const operators::Catalog& catalog, Devices devices,
                 const ServicesOptions& options);

  StoredRuns& runs() { return runs_; }
  StoredJobs& jobs() { return jobs_; }
  const StoredJobs& jobs() const { return jobs_; }
  StoredArtifacts& artifacts() { return artifacts_; }
  Store& store() { return *store_.store; }
  /// Says which process uses the store that was asked for. Empty if this one does.
  const std::string& practice_only() const { return store_.practice_only; }

 private:
  SystemClock system_clock_;
  const Clock& clock_;
  StoreChoice store_;
  StoredRuns runs_;
  StoredArtifacts artifacts_;
  StoredJobs jobs_;  // the last member, so that its workers stop before the store closes
};

}  // namespace assay::server
