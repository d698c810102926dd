#include "server/runs/services.h"

#include <algorithm>
#include <cstdint>
#include <utility>

#include "base/handle.h"
#include "base/log.h"
#include "base/result.h"

namespace assay::server {

Result<std::unique_ptr<ServerServices>> ServerServices::open(const std::filesystem::path& store,
                                                             const operators::Catalog& catalog,
                                                             Devices devices,
                                                             const ServicesOptions& options) {
  ASSAY_TRY(opened, Store::open(store, options.mode, options.store));
  const Clock& clock = options.clock != nullptr ? *options.clock : system_clock();
  if (options.mode != StoreMode::read_only && opened->writable()) {
    const Status removed = opened->remove_expired_artifacts(clock.unix_ms());
    const bool may_wait = options.mode == StoreMode::write_when_possible && !removed &&
                          removed.error().code == ErrorCode::unavailable;
    if (may_wait)
      log::error("expired artifacts cannot be removed now", {{"error", removed.error().message}});
    else if (!removed)
      return fail(removed.error());
  }
  return std::make_unique<ServerServices>(std::move(opened), catalog, std::move(devices), options);
}

ServerServices::ServerServices(std::unique_ptr<Store> store, const operators::Catalog& catalog,
                               Devices devices, const ServicesOptions& options)
    : clock_(options.clock != nullptr ? *options.clock : system_clock_),
      store_(std::move(store)),
      runs_(*store_, catalog, clock_, options.run_starts),
      artifacts_(*store_),
      jobs_(*store_, runs_, clock_, std::move(devices), options.queue, options.job_ended) {}

Result<tools::ArtifactSlice> StoredArtifacts::read(const tools::Principal& principal,
                                                   const std::string& artifact, std::int64_t offset,
                                                   std::int64_t limit_bytes) {
  if (!is_handle(artifact, "artifact")) {
    return fail(ErrorCode::invalid_argument,
                "not an artifact handle; handles look like artifact_... and are in the answers of "
                "`compile` and `profile`");
  }
  return store_.read_artifact(artifact, principal.name, offset,
                              std::min(limit_bytes, kMaxSliceBytes));
}

std::vector<std::pair<std::string, std::string>> StoredArtifacts::list(const std::string& job) {
  // An error of the store is ignored. The list of artifacts only supplements a tool's answer, which
  // is correct without the list too.
  return store_.list_artifacts(job).value_or(std::vector<std::pair<std::string, std::string>>());
}

}  // namespace assay::server
