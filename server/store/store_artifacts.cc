// Implements the functions of Store that read and remove artifacts. finish() in store_jobs.cc
// stores the artifacts of a job.
#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "server/store/artifact_quota.h"
#include "server/store/connection.h"
#include "server/store/store.h"

namespace assay::server {
namespace {

/// The number of bytes after which a transaction that removes artifacts ends. A longer transaction
/// would make SQLite's log long.
constexpr std::int64_t kRemovalBatchBytes = 64LL << 20;

}  // namespace

Status Store::remove_expired_artifacts(std::int64_t now_unix_ms) {
  const RemovalRule rule = {.before_unix_ms = now_unix_ms - limits_.artifacts.practice_age_ms,
                            .most_bytes = limits_.artifacts.store_bytes};
  for (bool more = true; more;) {
    const Status removed = connection_->write([&](SQLite::Database& db) -> Status {
      const std::vector<StoredArtifact> batch = next_to_remove(db, rule, kRemovalBatchBytes);
      remove_artifacts(db, batch);
      more = !batch.empty();
      return {};
    });
    if (!removed) return fail(removed.error());
  }
  return {};
}

Result<tools::ArtifactSlice> Store::read_artifact(const std::string& handle,
                                                  const std::optional<std::string>& principal,
                                                  std::int64_t offset, std::int64_t limit_bytes) {
  if (offset < 0 || limit_bytes < 0)
    return fail(ErrorCode::invalid_argument, "offset and limit must be 0 or more");
  return connection_->with([&](SQLite::Database& db) -> Result<tools::ArtifactSlice> {
    // A store of an older version, which is read without a migration, may have no column `caller`.
    SQLite::Statement query(
        db, std::string("SELECT a.kind, a.name, length(a.bytes), substr(a.bytes, ?, ?) "
                        "FROM artifacts a JOIN submissions s ON s.job = a.job "
                        "WHERE a.artifact = ?") +
                (principal ? " AND s.caller = ?" : ""));
    bind_all(query, offset + 1, limit_bytes, handle);
    if (principal) query.bind(4, *principal);
    if (!query.executeStep()) {
      return fail(
          ErrorCode::not_found,
          "unknown artifact, or it is not kept any more; handles look like artifact_... and "
          "are in the answers of `compile` and `profile`");
    }
    tools::ArtifactSlice slice;
    slice.kind = query.getColumn(0).getString();
    slice.name = query.getColumn(1).getString();
    slice.total_bytes = query.getColumn(2).getInt64();
    slice.offset = std::min(offset, slice.total_bytes);
    const SQLite::Column bytes = query.getColumn(3);
    slice.bytes.assign(static_cast<const char*>(bytes.getBlob()),
                       bytes.getBlob() == nullptr ? 0 : static_cast<std::size_t>(bytes.getBytes()));
    return slice;
  });
}

Result<std::vector<std::pair<std::string, std::string>>> Store::list_artifacts(
    const std::string& job) {
  return connection_->with(
      [&](SQLite::Database& db) -> Result<std::vector<std::pair<std::string, std::string>>> {
        SQLite::Statement query(
            db, "SELECT artifact, kind || ' ' || name FROM artifacts WHERE job = ? ORDER BY rowid");
        bind_all(query, job);
        std::vector<std::pair<std::string, std::string>> list;
        while (query.executeStep())
          list.emplace_back(query.getColumn(0).getString(), query.getColumn(1).getString());
        return list;
      });
}

}  // namespace assay::server
