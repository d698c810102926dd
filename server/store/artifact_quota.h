// Applies ArtifactLimits inside a transaction of the store. The functions decide which artifacts of
// a job are kept, remove older artifacts of practice jobs to make room, and store the kept
// artifacts. A rollback undoes all these changes. Only server/store includes this header. A thread
// may call the functions only while it has locked the connection.
//
//   const ArtifactOwner owner = owner_of(db, job);
//   const std::vector<sandbox::DroppedArtifact> dropped =
//       keep_artifacts(db, job, artifacts, limits, now_unix_ms);
//   remove_artifacts(db, next_to_remove(db, {.before_unix_ms = now_unix_ms - 1'000}));
//
// The functions throw SQLite::Exception, which Store::Connection turns into an Error.
#pragma once

#include <SQLiteCpp/Database.h>

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "sandbox/job/job.h"
#include "server/store/store_limits.h"

namespace assay::server {

/// The owner of an artifact. The artifact counts against the owner's limit.
struct ArtifactOwner {
  /// True if the owner is a run on a scored track. Artifacts of such a run never expire and are
  /// never removed to make room.
  bool scored = false;
  std::string name;  // the scored run's handle, or the name of the caller of practice jobs
};

/// The sizes of the artifacts that the store already contains when a job ends.
struct ArtifactUse {
  bool scored = false;           // true if the job's owner is a scored run
  std::int64_t owner_bytes = 0;  // the bytes of the job's owner
  std::int64_t scored_bytes =
      0;  // the bytes of all scored runs; all other artifacts can be removed
};

/// Says which artifacts of one job are kept, and which are dropped. Both lists have the order in
/// which the job made the artifacts.
struct ArtifactChoice {
  std::vector<const sandbox::Artifact*> kept;
  std::vector<sandbox::DroppedArtifact> dropped;
  std::int64_t kept_bytes = 0;
};

/// One artifact in the store.
struct StoredArtifact {
  std::string artifact;  // the artifact's handle
  std::int64_t bytes = 0;
};

/// Says which artifacts of practice jobs are removed. First, an artifact is removed if it was
/// stored before `before_unix_ms`. Then the oldest artifacts are removed, until all artifacts in
/// the store together have at most `most_bytes`.
struct RemovalRule {
  std::int64_t before_unix_ms = std::numeric_limits<std::int64_t>::min();
  std::int64_t most_bytes = std::numeric_limits<std::int64_t>::max();
};

/// Returns the number of bytes that an artifact adds to the sizes that the limits restrict: the
/// sizes of its content, kind and name.
std::int64_t counted_bytes(const sandbox::Artifact& artifact);

/// Decides which artifacts of a job are within the limits. The function considers the artifacts in
/// order. If an artifact does not fit, it is dropped, but a later, smaller artifact can still be
/// kept.
ArtifactChoice choose_artifacts(const std::vector<sandbox::Artifact>& artifacts,
                                const ArtifactLimits& limits, const ArtifactUse& use);

ArtifactOwner owner_of(SQLite::Database& db, const std::string& job);

/// Returns the number of bytes of all artifacts in the store.
std::int64_t artifact_bytes_of(SQLite::Database& db);
/// Returns the number of bytes of the artifacts of scored runs.
std::int64_t scored_artifact_bytes_of(SQLite::Database& db);

/// Returns the artifacts of practice jobs that `rule` selects, oldest first. The list ends as soon
/// as its artifacts have at least `batch_bytes` together.
std::vector<StoredArtifact> next_to_remove(
    SQLite::Database& db, const RemovalRule& rule,
    std::int64_t batch_bytes = std::numeric_limits<std::int64_t>::max());

void remove_artifacts(SQLite::Database& db, const std::vector<StoredArtifact>& artifacts);

/// Removes expired artifacts, makes room within the limits, and stores those artifacts of the job
/// that fit. Returns the artifacts of the job that do not fit.
std::vector<sandbox::DroppedArtifact> keep_artifacts(
    SQLite::Database& db, const std::string& job, const std::vector<sandbox::Artifact>& artifacts,
    const ArtifactLimits& limits, std::int64_t now_unix_ms);

/// Describes an artifact that is not kept.
sandbox::DroppedArtifact dropped_artifact(const sandbox::Artifact& artifact,
                                          sandbox::DropReason reason);

}  // namespace assay::server
