#include "server/runs/services.h"

#include "server/runs/artifact_service.h"
#include "server/runs/run_service.h"

namespace assay::server {
namespace {

class StoreBackend final : public Backend {
 public:
  StoreBackend(std::unique_ptr<Store> store, const operators::Catalog& catalog, Devices devices,
               const ServicesOptions& options)
      : clock_(options.clock != nullptr ? *options.clock : system_clock_),
        store_(std::move(store)),
        runs_(*store_, catalog, clock_),
        artifacts_(*store_),
        jobs_(*store_, runs_, clock_, std::move(devices), options.queue) {}

  StoredRuns& runs() override { return runs_; }
  tools::JobService& jobs() override { return jobs_; }
  std::vector<StoredJobs::Load> load() const override { return jobs_.load(); }
  tools::ArtifactService& artifacts() override { return artifacts_; }
  Store& store() override { return *store_; }
  Result<Recovered> recover() override { return jobs_.recover(); }
  Result<std::vector<tools::RunInfo>> list_runs() override { return store_->runs(); }

 private:
  SystemClock system_clock_;
  const Clock& clock_;
  std::unique_ptr<Store> store_;
  StoredRuns runs_;
  StoredArtifacts artifacts_;
  StoredJobs jobs_;  // last: its workers stop before the store closes
};

}  // namespace

Result<std::unique_ptr<Backend>> Backend::open(const std::filesystem::path& store,
                                               const operators::Catalog& catalog, Devices devices,
                                               const ServicesOptions& options) {
  auto opened = Store::open(store, options.mode);
  if (!opened) return fail(opened.error());
  return std::unique_ptr<Backend>(
      new StoreBackend(std::move(*opened), catalog, std::move(devices), options));
}

}  // namespace assay::server
