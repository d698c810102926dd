// Defines the limits of what clients can store. Without limits, a client could fill the disk,
// because it chooses the sources that it sends, and a submission chooses the content of its
// artifacts. The types are plain values.
//
//   const StoreLimits small{.artifacts = {.job_bytes = 1 << 20, .store_bytes = 64 << 20},
//                           .jobs = {.practice_bytes = 8 << 20}};
//   Result<std::unique_ptr<Store>> store = Store::open("assay.db", StoreMode::read_write, small);
//
// docs/reference/limits.md lists the defaults.
#pragma once

#include <cstdint>

namespace assay::server {

/// The limits for artifacts, and the time after which artifacts of practice jobs expire.
///
/// If an artifact exceeds a limit, it is not stored. The verdict then lists the artifact in
/// `artifacts_dropped`; nothing else in the verdict changes. If a new artifact needs room, older
/// artifacts of practice jobs are removed. Artifacts of scored runs are never removed.
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

/// The limits for jobs. The size of a job is the size of its source, its request and its verdict.
struct JobLimits {
  /// The maximum size of the practice jobs of one caller, in bytes. If a new job needs room, the
  /// caller's oldest finished practice jobs are removed.
  std::int64_t practice_bytes = 4LL << 30;
  /// The maximum size of the jobs of all scored runs of one caller, in bytes. Scored jobs are never
  /// removed, so further ones are refused.
  std::int64_t scored_bytes = 32LL << 30;
  /// The maximum number of calls of one run for one operator whose charge was refunded because
  /// Assay failed or restarted. Further calls are refused if the run has a budget for them. Without
  /// this limit, somebody who can make Assay fail would have any number of attempts.
  std::int64_t refunds = 16;
};

struct StoreLimits {
  ArtifactLimits artifacts = {};
  JobLimits jobs = {};
};

}  // namespace assay::server
