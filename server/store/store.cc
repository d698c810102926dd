#include "server/store/store.h"

#include <sqlite3.h>

#include <system_error>

#include "base/result.h"
#include "server/store/connection.h"
#include "server/store/store_file.h"

namespace assay::server {

namespace fs = std::filesystem;

Error sqlite_error(const SQLite::Exception& error, const fs::path& path) {
  const std::string where = "store " + path.string() + ": ";
  switch (error.getErrorCode()) {
    case SQLITE_NOTADB:
      return Error{ErrorCode::corrupt,
                   where +
                       "the file is not an SQLite database; it was not changed. "
                       "Name another file with --store"};
    case SQLITE_CORRUPT:
      return Error{ErrorCode::corrupt, where + "the file is damaged (" + error.what() +
                                           "); restore a copy, or name another file with --store"};
    case SQLITE_READONLY:
    case SQLITE_PERM: return not_writable(path, error.what());
    case SQLITE_CANTOPEN:
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
    case SQLITE_FULL:
    case SQLITE_IOERR: return Error{ErrorCode::unavailable, where + error.what()};
    default: return Error{ErrorCode::internal, where + error.what()};
  }
}

Result<std::unique_ptr<Store>> Store::open(const fs::path& path, StoreMode mode,
                                           const ArtifactLimits& limits) {
  std::error_code code;
  const bool exists = fs::exists(path, code);
  if (!exists && mode == StoreMode::read_only) {
    return fail(
        ErrorCode::not_found,
        "store " + path.string() + ": no such file; `assay serve` and `assay bench` create one");
  }
  if (fs::is_directory(path, code))
    return fail(ErrorCode::unavailable,
                "store " + path.string() + " is a folder; name a file with --store");
  try {
    if (exists) {
      ASSAY_RETURN_IF_ERROR(check_store_file(path));
    } else if (path.has_parent_path()) {
      fs::create_directories(path.parent_path(), code);
      if (code)
        return fail(
            not_writable(path, "create " + path.parent_path().string() + ": " + code.message()));
    }
    UniqueFd lock;
    if (mode == StoreMode::read_write) {
      ASSAY_TRY(locked, lock_store_file(path));
      lock = std::move(locked);
    }
    const int flags = mode == StoreMode::read_write ? SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE
                                                    : SQLite::OPEN_READONLY;
    SQLite::Database db(path.string(), flags, kBusyTimeoutMs);
    const Status ready = mode == StoreMode::read_write ? prepare_for_writing(db, path)
                                                       : prepare_for_reading(db, path);
    if (!ready) return fail(ready.error());
    return std::unique_ptr<Store>(new Store(
        std::make_unique<Connection>(path, std::move(db), std::move(lock), mode), limits));
  } catch (const SQLite::Exception& error) {
    return fail(sqlite_error(error, path));
  }
}

Store::Store(std::unique_ptr<Connection> connection, const ArtifactLimits& limits)
    : connection_(std::move(connection)), limits_(limits) {}
Store::~Store() = default;

}  // namespace assay::server
