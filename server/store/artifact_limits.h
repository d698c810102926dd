// The limits for artifacts in the store, and the time after which artifacts of practice jobs
// expire. Without limits a client could fill the disk, because a submission chooses the content of
// its artifacts. ArtifactLimits is a plain value.
//
//   const ArtifactLimits small{.job_bytes = 1 << 20, .store_bytes = 64 << 20};
//   Result<std::unique_ptr<Store>> store = Store::open("assay.db", StoreMode::read_write, small);
//
// An artifact above a limit is dropped: the verdict says so in `artifacts_dropped`, and nothing
// else in it changes. A new artifact of practice displaces older ones of practice. Nothing
// displaces the artifacts of scored runs. docs/reference/limits.md lists the defaults.
#pragma once

#include <cstdint>

namespace assay::server {

struct ArtifactLimits {
  /// One artifact, bytes. SQLite holds it in one value.
  std::int64_t artifact_bytes = 64LL << 20;
  /// The artifacts of one job, bytes.
  std::int64_t job_bytes = 64LL << 20;
  /// The artifacts of one owner, bytes. An owner is a scored run, or a caller with its practice.
  std::int64_t owner_bytes = 2LL << 30;
  /// All artifacts in the store, bytes.
  std::int64_t store_bytes = 16LL << 30;
  /// The age at which artifacts of practice expire, ms.
  std::int64_t practice_age_ms = 7 * 86'400'000LL;
};

}  // namespace assay::server
