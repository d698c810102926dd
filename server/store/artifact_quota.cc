#include "server/store/artifact_quota.h"

#include <SQLiteCpp/Statement.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "base/handle.h"
#include "base/text.h"
#include "server/store/connection.h"

namespace assay::server {
namespace {

using sandbox::DropReason;

// The maximum number of bytes of a name or kind in a list of dropped artifacts. The limit is needed
// because an untrusted name can have 64 KiB, and a job can drop many artifacts.
constexpr std::size_t kDroppedNameBytes = 200;

template <class... Values>
std::int64_t number_of(SQLite::Database& db, const char* sql, const Values&... values) {
  SQLite::Statement query(db, sql);
  bind_all(query, values...);
  return query.executeStep() ? query.getColumn(0).getInt64() : 0;
}

/// Returns the oldest artifacts of the practice jobs of `caller`. The list ends as soon as its
/// artifacts have at least `bytes` bytes together.
std::vector<StoredArtifact> oldest_practice_of(SQLite::Database& db, const std::string& caller,
                                               std::int64_t bytes) {
  SQLite::Statement query(db,
                          "SELECT artifact, size_bytes FROM artifact_sizes WHERE scored = 0 AND "
                          "owner = ? ORDER BY at_unix_ms, rowid");
  bind_all(query, caller);
  std::vector<StoredArtifact> found;
  while (bytes > 0 && query.executeStep()) {
    found.push_back({query.getColumn(0).getString(), query.getColumn(1).getInt64()});
    bytes -= found.back().bytes;
  }
  return found;
}

void insert_artifact(SQLite::Database& db, const std::string& job, const ArtifactOwner& owner,
                     const sandbox::Artifact& artifact, std::int64_t now_unix_ms) {
  const std::string handle = new_handle("artifact");
  SQLite::Statement insert(db, "INSERT INTO artifacts VALUES (?,?,?,?,?,?)");
  bind_all(insert, handle, job, escape_line(artifact.kind), escape_line(artifact.name));
  insert.bind(5, artifact.bytes.data(), static_cast<int>(artifact.bytes.size()));
  insert.bind(6, now_unix_ms);
  insert.exec();
  SQLite::Statement size(db, "INSERT INTO artifact_sizes VALUES (?,?,?,?,?)");
  bind_all(size, handle, static_cast<std::int64_t>(owner.scored), owner.name,
           counted_bytes(artifact), now_unix_ms);
  size.exec();
}

}  // namespace

sandbox::DroppedArtifact dropped_artifact(const sandbox::Artifact& artifact, DropReason reason) {
  return {cut_end(escape_line(artifact.kind), kDroppedNameBytes),
          cut_end(escape_line(artifact.name), kDroppedNameBytes),
          static_cast<std::int64_t>(artifact.bytes.size()), reason};
}

std::int64_t counted_bytes(const sandbox::Artifact& artifact) {
  return static_cast<std::int64_t>(artifact.bytes.size() + artifact.kind.size() +
                                   artifact.name.size());
}

ArtifactChoice choose_artifacts(const std::vector<sandbox::Artifact>& artifacts,
                                const ArtifactLimits& limits, const ArtifactUse& use) {
  // The owner's older artifacts reduce the room only if the owner is a scored run. Older artifacts
  // of a caller's practice jobs do not, because they are removed if a new artifact needs their
  // room.
  const std::int64_t owner_room = limits.owner_bytes - (use.scored ? use.owner_bytes : 0);
  const std::int64_t store_room = limits.store_bytes - use.scored_bytes;
  ArtifactChoice choice;
  for (const sandbox::Artifact& artifact : artifacts) {
    const std::int64_t after = choice.kept_bytes + counted_bytes(artifact);
    std::optional<DropReason> reason;
    if (counted_bytes(artifact) > limits.artifact_bytes)
      reason = DropReason::too_large;
    else if (after > limits.job_bytes)
      reason = DropReason::job_quota;
    else if (after > owner_room)
      reason = DropReason::owner_quota;
    else if (after > store_room)
      reason = DropReason::store_quota;
    if (reason) {
      choice.dropped.push_back(dropped_artifact(artifact, *reason));
    } else {
      choice.kept.push_back(&artifact);
      choice.kept_bytes = after;
    }
  }
  return choice;
}

ArtifactOwner owner_of(SQLite::Database& db, const std::string& job) {
  SQLite::Statement query(db,
                          "SELECT s.caller, s.run, r.track IS NOT NULL AND r.track <> 'practice' "
                          "FROM submissions s LEFT JOIN runs r ON r.run = s.run WHERE s.job = ?");
  bind_all(query, job);
  if (!query.executeStep()) return {};
  const bool scored = query.getColumn(2).getInt() != 0;
  return {scored, query.getColumn(scored ? 1 : 0).getString()};
}

std::int64_t artifact_bytes_of(SQLite::Database& db) {
  return number_of(db, "SELECT sum(size_bytes) FROM artifact_owners");
}

std::int64_t scored_artifact_bytes_of(SQLite::Database& db) {
  return number_of(db, "SELECT sum(size_bytes) FROM artifact_owners WHERE scored = 1");
}

std::vector<StoredArtifact> next_to_remove(SQLite::Database& db, const RemovalRule& rule,
                                           std::int64_t batch_bytes) {
  std::int64_t left = artifact_bytes_of(db);
  SQLite::Statement query(db,
                          "SELECT artifact, size_bytes, at_unix_ms FROM artifact_sizes "
                          "WHERE scored = 0 ORDER BY at_unix_ms, rowid");
  std::vector<StoredArtifact> found;
  std::int64_t found_bytes = 0;
  while (found_bytes < batch_bytes && query.executeStep()) {
    if (query.getColumn(2).getInt64() >= rule.before_unix_ms && left <= rule.most_bytes) break;
    found.push_back({query.getColumn(0).getString(), query.getColumn(1).getInt64()});
    found_bytes += found.back().bytes;
    left -= found.back().bytes;
  }
  return found;
}

void remove_artifacts(SQLite::Database& db, const std::vector<StoredArtifact>& artifacts) {
  SQLite::Statement size(db, "DELETE FROM artifact_sizes WHERE artifact = ?");
  SQLite::Statement content(db, "DELETE FROM artifacts WHERE artifact = ?");
  for (const StoredArtifact& one : artifacts) {
    for (SQLite::Statement* statement : {&size, &content}) {
      bind_all(*statement, one.artifact);
      statement->exec();
      statement->reset();
    }
  }
}

std::vector<sandbox::DroppedArtifact> keep_artifacts(
    SQLite::Database& db, const std::string& job, const std::vector<sandbox::Artifact>& artifacts,
    const ArtifactLimits& limits, std::int64_t now_unix_ms) {
  const std::int64_t expired_before = now_unix_ms - limits.practice_age_ms;
  remove_artifacts(db, next_to_remove(db, {.before_unix_ms = expired_before}));
  if (artifacts.empty()) return {};
  const ArtifactOwner owner = owner_of(db, job);
  const ArtifactUse use = {
      .scored = owner.scored,
      .owner_bytes =
          number_of(db, "SELECT size_bytes FROM artifact_owners WHERE owner = ? AND scored = ?",
                    owner.name, static_cast<std::int64_t>(owner.scored)),
      .scored_bytes = scored_artifact_bytes_of(db)};
  ArtifactChoice choice = choose_artifacts(artifacts, limits, use);
  if (choice.kept.empty()) return std::move(choice.dropped);
  if (!owner.scored)
    remove_artifacts(db,
                     oldest_practice_of(db, owner.name,
                                        use.owner_bytes + choice.kept_bytes - limits.owner_bytes));
  remove_artifacts(db, next_to_remove(db, {.most_bytes = limits.store_bytes - choice.kept_bytes}));
  for (const sandbox::Artifact* artifact : choice.kept)
    insert_artifact(db, job, owner, *artifact, now_unix_ms);
  return std::move(choice.dropped);
}

}  // namespace assay::server
