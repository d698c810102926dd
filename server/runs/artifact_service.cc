#include "server/runs/artifact_service.h"

#include <algorithm>
#include <cstdint>

#include "base/handle.h"

namespace assay::server {

Result<std::string> StoredArtifacts::put(const std::string& job,
                                         const sandbox::Artifact& artifact) {
  if (static_cast<std::int64_t>(artifact.bytes.size()) > kMaxArtifactBytes) {
    return fail(ErrorCode::resource_exhausted, "artifact " + artifact.name + " is larger than " +
                                                   std::to_string(kMaxArtifactBytes) + " bytes");
  }
  std::string handle = new_handle("artifact");
  if (const Status stored = store_.insert_artifact(handle, job, artifact, clock_.unix_ms());
      !stored)
    return fail(stored.error());
  return handle;
}

Result<tools::ArtifactSlice> StoredArtifacts::read(const std::string& artifact, std::int64_t offset,
                                                   std::int64_t limit_bytes) {
  if (!is_handle(artifact, "artifact")) {
    return fail(ErrorCode::invalid_argument,
                "that is no artifact handle; they look like artifact_... and come in the answers "
                "of compile and profile");
  }
  return store_.read_artifact(artifact, offset, std::min(limit_bytes, kMaxSliceBytes));
}

std::vector<std::pair<std::string, std::string>> StoredArtifacts::list(const std::string& job) {
  auto found = store_.list_artifacts(job);
  return found ? std::move(*found)
               : std::vector<std::pair<std::string, std::string>>();  // a list beside an answer:
                                                                      // without it the answer still
                                                                      // holds
}

}  // namespace assay::server
