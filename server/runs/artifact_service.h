// Artifacts over the store. Thread-safe. The store and the clock must outlive it.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "server/store/store.h"
#include "tools/model/services.h"

namespace assay::server {

inline constexpr std::int64_t kMaxArtifactBytes = 64LL << 20;
inline constexpr std::int64_t kMaxSliceBytes = 1LL << 20;

class StoredArtifacts final : public tools::ArtifactService {
 public:
  StoredArtifacts(Store& store, const Clock& clock) : store_(store), clock_(clock) {}

  Result<std::string> put(const std::string& job, const sandbox::Artifact& artifact) override;
  Result<tools::ArtifactSlice> read(const std::string& artifact, std::int64_t offset,
                                    std::int64_t limit_bytes) override;
  std::vector<std::pair<std::string, std::string>> list(const std::string& job) override;

 private:
  Store& store_;
  const Clock& clock_;
};

}  // namespace assay::server
