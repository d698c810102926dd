// Reads artifacts: bytes that are too large for one answer, in slices.
#include <cstdint>

#include "server/store/connection.h"
#include "server/store/store.h"

namespace assay::server {

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
