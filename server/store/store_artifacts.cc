// Artifacts: bytes that are too large for an answer, read piece by piece.
#include <cstdint>

#include "base/escape.h"
#include "server/store/connection.h"
#include "server/store/rows.h"
#include "server/store/store.h"

namespace assay::server {

Status Store::insert_artifact(const std::string& handle, const std::string& job,
                              const sandbox::Artifact& artifact, std::int64_t now_unix_ms) {
  return connection_->write([&](SQLite::Database& db) -> Status {
    SQLite::Statement known(db, "SELECT 1 FROM submissions WHERE job = ?");
    bind_all(known, job);
    if (!known.executeStep()) return fail(ErrorCode::not_found, "unknown job " + job);
    SQLite::Statement insert(db, "INSERT INTO artifacts VALUES (?,?,?,?,?,?)");
    bind_all(insert, handle, job, escape_text(artifact.kind), escape_text(artifact.name));
    insert.bind(5, artifact.bytes.data(), static_cast<int>(artifact.bytes.size()));
    insert.bind(6, now_unix_ms);
    insert.exec();
    return {};
  });
}

Result<tools::ArtifactSlice> Store::read_artifact(const std::string& handle, std::int64_t offset,
                                                  std::int64_t limit_bytes) {
  if (offset < 0 || limit_bytes < 0)
    return fail(ErrorCode::invalid_argument, "offset and limit are 0 or more");
  return connection_->with([&](SQLite::Database& db) -> Result<tools::ArtifactSlice> {
    SQLite::Statement query(
        db,
        "SELECT kind, name, length(bytes), substr(bytes, ?, ?) FROM artifacts WHERE artifact = ?");
    bind_all(query, offset + 1, limit_bytes, handle);
    if (!query.executeStep()) {
      return fail(ErrorCode::not_found,
                  "unknown artifact; a handle looks like artifact_... and comes in the answers of "
                  "compile and profile");
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
