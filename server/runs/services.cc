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
  StoreChoice opened;
  if (options.practice_if_in_use) {
    ASSAY_TRY(chosen, open_store_or_practice(store, options.mode, options.store));
    opened = std::move(chosen);
  } else {
    ASSAY_TRY(asked, Store::open(store, options.mode, options.store));
    opened.store = std::move(asked);
  }
  const Clock& clock = options.clock != nullptr ? *options.clock : system_clock();
  if (options.mode != StoreMode::read_only && opened.store->writable()) {
    const Status removed = opened.store->remove_expired_artifacts(clock.unix_ms());
    const bool may_wait = options.mode == StoreMode::write_when_possible && !removed &&
                          removed.error().code == ErrorCode::unavailable;
    if (may_wait)
      log::error("expired artifacts cannot be removed now", {{"error", removed.error().message}});
    else if (!removed)
      return fail(removed.error());
  }
  return std::make_unique<ServerServices>(std::move(opened), catalog, std::move(devices), options);
}

ServerServices::ServerServices(StoreChoice store, const operators::Catalog& catalog,
                               Devices devices, const ServicesOptions& options)
    : clock_(options.clock != nullptr ? *options.clock : system_clock_),
      store_(std::move(store)),
      runs_(*store_.store, catalog, clock_, options.run_starts, store_.practice_only),
      artifacts_(*store_.store),
      jobs_(*store_.store, runs_, clock_, std::move(devices), options.queue, options.job_ended) {}

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
