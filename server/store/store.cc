#include "server/store/store.h"

#include <sqlite3.h>

#include <system_error>

#include "base/log.h"
#include "base/private_path.h"
#include "base/result.h"
#include "server/store/connection.h"
#include "server/store/store_file.h"
#include "server/store/unwritable_file.h"

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
                                           const StoreLimits& limits) {
  std::error_code code;
  const bool exists = fs::exists(path, code);
  if (mode == StoreMode::read_only) ASSAY_RETURN_IF_ERROR(check_store_exists(path));
  if (fs::is_directory(path, code))
    return fail(ErrorCode::unavailable,
                "store " + path.string() + " is a folder; name a file with --store");
  if (mode == StoreMode::write_when_possible) {
    auto opened = open(path, StoreMode::read_write, limits);
    if (opened || !exists) return opened;
    return open_until_writable(path, limits, opened.error());
  }
  try {
    if (exists) {
      ASSAY_RETURN_IF_ERROR(check_store_file(path));
    } else if (path.has_parent_path()) {
      if (const Status made = create_private_directory(path.parent_path()); !made)
        return fail(not_writable(path, made.error().message));
    }
    UniqueFd lock;
    if (mode == StoreMode::read_write) {
      ASSAY_TRY(locked, lock_store_file(path));
      lock = std::move(locked);
      if (const Status made = create_private_file(path); !made)
        return fail(not_writable(path, made.error().message));
      keep_store_private(path);
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

Result<std::unique_ptr<Store>> Store::open_until_writable(const fs::path& path,
                                                          const StoreLimits& limits,
                                                          const Error& why) {
  // A damaged file, a newer schema or another process that uses the store is no reason to start.
  Result<ReadableFile> file = open_unwritable_file(path);
  if (!file) return fail(file.error().code == ErrorCode::unavailable ? why : file.error());
  log::error("the store cannot be written, so this server only reads it until it can be written",
             {{"error", why.message}});
  auto connection = std::make_unique<Connection>(path, std::move(file->db), std::move(file->lock),
                                                 StoreMode::write_when_possible);
  return std::unique_ptr<Store>(new Store(std::move(connection), limits));
}

bool Store::writable() const { return connection_->writable(); }
Status Store::make_writable() { return connection_->make_writable(); }

Store::Store(std::unique_ptr<Connection> connection, const StoreLimits& limits)
    : connection_(std::move(connection)), limits_(limits) {}
Store::~Store() = default;

}  // namespace assay::server
