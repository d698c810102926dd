// Applies ArtifactLimits inside a transaction of the store. It decides which artifacts of a job are
// kept, removes older artifacts of practice jobs to make room, and stores the kept artifacts. A
// rollback undoes all these changes. Only server/store includes this header. Only the thread that
// has locked the connection may call the functions.
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
#include "server/store/artifact_limits.h"

namespace assay::server {

/// The owner of an artifact. The artifact counts against the owner's limit.
struct ArtifactOwner {
  /// True if the owner is a run on a scored track. The artifacts of such a run never expire and are
  /// never displaced.
  bool scored = false;
  std::string name;  // the scored run's handle, or the name of the caller of practice jobs
};

/// The numbers of bytes that the store's artifacts have when a job ends.
struct ArtifactUse {
  bool scored = false;           // true if the job's owner is a scored run
  std::int64_t owner_bytes = 0;  // the bytes of the job's owner
  std::int64_t scored_bytes =
      0;  // the bytes of all scored runs; all other artifacts can be removed
};

/// The kept and the dropped artifacts of one job. Both lists are in the order in which the job made
/// the artifacts.
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

/// Selects the artifacts of practice jobs that are removed. An artifact that was stored before
/// `before_unix_ms` is removed. After that, the oldest artifacts are removed as long as all
/// artifacts in the store have more than `most_bytes` together.
struct RemovalRule {
  std::int64_t before_unix_ms = std::numeric_limits<std::int64_t>::min();
  std::int64_t most_bytes = std::numeric_limits<std::int64_t>::max();
};

/// Returns the number of bytes with which an artifact counts against the limits: the sizes of its
/// content, kind and name.
std::int64_t counted_bytes(const sandbox::Artifact& artifact);

/// Decides which artifacts fit into the limits. It looks at the artifacts in order. An artifact
/// that does not fit is dropped; a later, smaller artifact can still be kept.
ArtifactChoice choose_artifacts(const std::vector<sandbox::Artifact>& artifacts,
                                const ArtifactLimits& limits, const ArtifactUse& use);

ArtifactOwner owner_of(SQLite::Database& db, const std::string& job);

/// Returns the number of bytes of all artifacts in the store.
std::int64_t artifact_bytes_of(SQLite::Database& db);

/// Returns artifacts of practice jobs that the rule selects, oldest first. The list ends when its
/// artifacts have at least `batch_bytes` together.
std::vector<StoredArtifact> next_to_remove(
    SQLite::Database& db, const RemovalRule& rule,
    std::int64_t batch_bytes = std::numeric_limits<std::int64_t>::max());

void remove_artifacts(SQLite::Database& db, const std::vector<StoredArtifact>& artifacts);

/// Removes expired artifacts, makes room within the limits, and stores the artifacts of the job
/// that fit. Returns the job's artifacts that do not fit.
std::vector<sandbox::DroppedArtifact> keep_artifacts(
    SQLite::Database& db, const std::string& job, const std::vector<sandbox::Artifact>& artifacts,
    const ArtifactLimits& limits, std::int64_t now_unix_ms);

/// Describes an artifact that is not kept.
sandbox::DroppedArtifact dropped_artifact(const sandbox::Artifact& artifact,
                                          sandbox::DropReason reason);

}  // namespace assay::server
