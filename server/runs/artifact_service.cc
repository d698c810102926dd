#include "server/runs/artifact_service.h"

#include <algorithm>
#include <cstdint>

#include "base/handle.h"

namespace assay::server {

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
  // The list accompanies an answer; without it the answer still holds.
  return store_.list_artifacts(job).value_or(std::vector<std::pair<std::string, std::string>>());
}

}  // namespace assay::server
