// StoredArtifacts reads artifacts from the store. Thread-safe. The store must outlive it.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "server/store/store.h"
#include "tools/model/services.h"

namespace assay::server {

inline constexpr std::int64_t kMaxSliceBytes = 1LL << 20;

class StoredArtifacts final : public tools::ArtifactService {
 public:
  explicit StoredArtifacts(Store& store) : store_(store) {}

  Result<tools::ArtifactSlice> read(const std::string& artifact, std::int64_t offset,
                                    std::int64_t limit_bytes) override;
  std::vector<std::pair<std::string, std::string>> list(const std::string& job) override;

 private:
  Store& store_;
};

}  // namespace assay::server
