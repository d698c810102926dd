// Applies ArtifactLimits inside a transaction of the store: decides which artifacts of a job are
// kept, removes older ones of practice for them, and stores them. A rollback undoes all of it. Only
// server/store includes this header. The functions belong to the thread that holds the connection.
//
//   const ArtifactOwner owner = owner_of(db, job);
//   const std::vector<sandbox::DroppedArtifact> dropped =
//       keep_artifacts(db, job, artifacts, limits, now_unix_ms);
//   remove_artifacts(db, next_to_remove(db, {.before_unix_ms = now_unix_ms - 1'000}));
//
// They throw SQLite::Exception, which Store::Connection turns into an Error.
#pragma once

#include <SQLiteCpp/Database.h>

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "sandbox/job/job.h"
#include "server/store/artifact_limits.h"

namespace assay::server {

/// The owner whose limit an artifact counts against.
struct ArtifactOwner {
  bool scored = false;  // a run on a track that is scored; its artifacts neither expire nor yield
  std::string name;     // the scored run, or the caller of the practice
};

/// The bytes that the store holds when a job ends.
struct ArtifactUse {
  bool scored = false;            // of the job's owner
  std::int64_t owner_bytes = 0;   // of the job's owner
  std::int64_t scored_bytes = 0;  // of all scored runs; all other artifacts can be removed
};

/// The artifacts of one job, each in the order in which the job made them.
struct ArtifactChoice {
  std::vector<const sandbox::Artifact*> kept;
  std::vector<sandbox::DroppedArtifact> dropped;
  std::int64_t kept_bytes = 0;
};

/// One artifact in the store.
struct StoredArtifact {
  std::string artifact;  // handle
  std::int64_t bytes = 0;
};

/// Selects artifacts of practice: those before a time, and the oldest ones while all artifacts of
/// the store have too many bytes.
struct RemovalRule {
  std::int64_t before_unix_ms = std::numeric_limits<std::int64_t>::min();
  std::int64_t most_bytes = std::numeric_limits<std::int64_t>::max();
};

/// Returns the bytes that an artifact counts for: its content, kind and name.
std::int64_t counted_bytes(const sandbox::Artifact& artifact);

/// Decides which artifacts fit. Takes them in order; one that does not fit is dropped, and a later
/// smaller one can still be kept.
ArtifactChoice choose_artifacts(const std::vector<sandbox::Artifact>& artifacts,
                                const ArtifactLimits& limits, const ArtifactUse& use);

ArtifactOwner owner_of(SQLite::Database& db, const std::string& job);

/// Returns the bytes of all artifacts.
std::int64_t artifact_bytes_of(SQLite::Database& db);

/// Returns artifacts of practice that the rule selects, oldest first: as many as have at least
/// `batch_bytes` together, or all of them.
std::vector<StoredArtifact> next_to_remove(
    SQLite::Database& db, const RemovalRule& rule,
    std::int64_t batch_bytes = std::numeric_limits<std::int64_t>::max());

void remove_artifacts(SQLite::Database& db, const std::vector<StoredArtifact>& artifacts);

/// Removes expired artifacts, makes room within the limits, and stores those artifacts of the job
/// that fit. Returns the others.
std::vector<sandbox::DroppedArtifact> keep_artifacts(
    SQLite::Database& db, const std::string& job, const std::vector<sandbox::Artifact>& artifacts,
    const ArtifactLimits& limits, std::int64_t now_unix_ms);

/// Describes an artifact that is not kept.
sandbox::DroppedArtifact dropped_artifact(const sandbox::Artifact& artifact,
                                          sandbox::DropReason reason);

}  // namespace assay::server
