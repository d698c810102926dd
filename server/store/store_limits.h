// Defines the limits for artifacts in the store, and the time after which artifacts of practice
// jobs expire. Without limits, a client could fill the disk, because a submission determines the
// content of its artifacts. ArtifactLimits is a plain value.
//
//   const ArtifactLimits small{.job_bytes = 1 << 20, .store_bytes = 64 << 20};
//   Result<std::unique_ptr<Store>> store = Store::open("assay.db", StoreMode::read_write, small);
//
// If an artifact exceeds a limit, it is not stored. The verdict then lists the artifact in
// `artifacts_dropped`; nothing else in the verdict changes. If a new artifact needs room, older
// artifacts of practice jobs are removed. Artifacts of scored runs are never removed.
// docs/reference/limits.md lists the defaults.
#pragma once

#include <cstdint>

namespace assay::server {

struct ArtifactLimits {
  /// The maximum size of one artifact, in bytes. SQLite stores an artifact as a single value.
  std::int64_t artifact_bytes = 64LL << 20;
  /// The maximum size of all artifacts of one job, in bytes.
  std::int64_t job_bytes = 64LL << 20;
  /// The maximum size of all artifacts of one owner, in bytes. An owner is a scored run, or a
  /// caller with all its practice jobs.
  std::int64_t owner_bytes = 2LL << 30;
  /// The maximum size of all artifacts in the store, in bytes.
  std::int64_t store_bytes = 16LL << 30;
  /// The age at which artifacts of practice jobs expire, in milliseconds.
  std::int64_t practice_age_ms = 7 * 86'400'000LL;
};

}  // namespace assay::server
