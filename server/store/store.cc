#include "server/store/store.h"

#include <fcntl.h>
#include <sqlite3.h>
#include <sys/file.h>

#include <cerrno>
#include <cstring>
#include <system_error>

#include "base/result.h"
#include "server/store/connection.h"
#include "server/store/schema.h"

namespace assay::server {
namespace {

namespace fs = std::filesystem;

/// How long a call waits for a lock on the database. Readers in other processes lock it only
/// briefly.
constexpr int kBusyTimeoutMs = 5'000;
/// The size of the largest file that is checked for damage when it is opened. The check reads the
/// whole file. In a larger file, damage is found when the damaged rows are read.
constexpr std::uintmax_t kQuickCheckMaxBytes = 64 << 20;

Error not_writable(const fs::path& path, const std::string& why) {
  return Error{ErrorCode::unavailable, "store " + path.string() + " cannot be written: " + why +
                                           "; name another file with --store"};
}

/// Returns an error for an existing file that is not a usable store, before anything can change the
/// file.
Status inspect(const fs::path& path) {
  SQLite::Database db(path.string(), SQLite::OPEN_READONLY, kBusyTimeoutMs);
  const int version = db.execAndGet("PRAGMA user_version").getInt();
  const int application = db.execAndGet("PRAGMA application_id").getInt();
  if (version > kSchemaVersion) {
    return fail(ErrorCode::unavailable,
                "store " + path.string() + " has schema " + std::to_string(version) +
                    ", newer than this Assay's " + std::to_string(kSchemaVersion) +
                    "; the file was not changed. Use the Assay that wrote it, "
                    "or name another file with --store");
  }
  const int tables = db.execAndGet("SELECT count(*) FROM sqlite_master").getInt();
  if (tables == 0) return {};
  if (application != kApplicationId || version < 1) {
    return fail(ErrorCode::corrupt,
                path.string() +
                    " is an SQLite file, but not a store of Assay; the file was "
                    "not changed. Name another file with --store");
  }
  std::error_code code;
  if (fs::file_size(path, code) <= kQuickCheckMaxBytes && !code) {
    const std::string found = db.execAndGet("PRAGMA quick_check(1)").getString();
    if (found != "ok")
      return fail(ErrorCode::corrupt, "store " + path.string() + " is damaged: " + found +
                                          "; restore a copy, or name another file with --store");
  }
  return {};
}

/// Locks a separate file, not the database. Closing any descriptor of the database would release
/// SQLite's own locks on it.
Result<UniqueFd> lock_for_writing(const fs::path& path) {
  const std::string lock_path = path.string() + ".lock";
  UniqueFd fd(::open(lock_path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
  if (!fd) return fail(not_writable(path, "open " + lock_path + ": " + std::strerror(errno)));
  if (::flock(fd.get(), LOCK_EX | LOCK_NB) == 0) return fd;
  const int error_number = errno;
  if (error_number != EWOULDBLOCK)
    return fail(not_writable(path, "flock " + lock_path + ": " + std::strerror(error_number)));
  return fail(
      ErrorCode::unavailable,
      "store " + path.string() +
          " is in use by another Assay; stop that process, or name another file with --store");
}

void create_schema(SQLite::Database& db) {
  SQLite::Transaction transaction(db, SQLite::TransactionBehavior::EXCLUSIVE);
  db.exec(kSchemaSql);
  db.exec("PRAGMA application_id=" + std::to_string(kApplicationId));
  db.exec("PRAGMA user_version=" + std::to_string(kSchemaVersion));
  transaction.commit();
}

/// Migrates an older schema to kSchemaVersion. If a step fails, the file stays unchanged.
void migrate(SQLite::Database& db) {
  const int version = db.execAndGet("PRAGMA user_version").getInt();
  if (version == kSchemaVersion) return;
  SQLite::Transaction transaction(db, SQLite::TransactionBehavior::EXCLUSIVE);
  if (version < 2) db.exec(kMigrateFromVersion1Sql);
  db.exec("PRAGMA user_version=" + std::to_string(kSchemaVersion));
  transaction.commit();
}

Status prepare_for_writing(SQLite::Database& db, const fs::path& path) {
  // SQLite opens a write-protected file for reading, without an error.
  if (sqlite3_db_readonly(db.getHandle(), "main") == 1)
    return fail(not_writable(path, "the file is write-protected"));
  db.exec("PRAGMA journal_mode=WAL");
  db.exec("PRAGMA synchronous=NORMAL");
  db.exec("PRAGMA foreign_keys=ON");
  const int tables = db.execAndGet("SELECT count(*) FROM sqlite_master").getInt();
  if (tables == 0) {
    create_schema(db);
  } else {
    migrate(db);
  }
  // The statement fails if the file cannot be written. The destructor rolls the transaction back.
  SQLite::Transaction can_write(db, SQLite::TransactionBehavior::IMMEDIATE);
  return {};
}

Status prepare_for_reading(SQLite::Database& db, const fs::path& path) {
  if (db.execAndGet("SELECT count(*) FROM sqlite_master").getInt() == 0)
    return fail(ErrorCode::corrupt,
                "store " + path.string() + " is empty; `assay serve` and `assay bench` fill it");
  if (db.execAndGet("PRAGMA user_version").getInt() == 1)
    db.exec(db.tableExists("free_usage") ? kReadVersion1WithFreeUsageSql : kReadVersion1Sql);
  return {};
}

}  // namespace

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

Result<std::unique_ptr<Store>> Store::open(const fs::path& path, StoreMode mode) {
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
      ASSAY_RETURN_IF_ERROR(inspect(path));
    } else if (path.has_parent_path()) {
      fs::create_directories(path.parent_path(), code);
      if (code)
        return fail(
            not_writable(path, "create " + path.parent_path().string() + ": " + code.message()));
    }
    UniqueFd lock;
    if (mode == StoreMode::read_write) {
      ASSAY_TRY(locked, lock_for_writing(path));
      lock = std::move(locked);
    }
    const int flags = mode == StoreMode::read_write ? SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE
                                                    : SQLite::OPEN_READONLY;
    SQLite::Database db(path.string(), flags, kBusyTimeoutMs);
    const Status ready = mode == StoreMode::read_write ? prepare_for_writing(db, path)
                                                       : prepare_for_reading(db, path);
    if (!ready) return fail(ready.error());
    return std::unique_ptr<Store>(
        new Store(std::make_unique<Connection>(path, std::move(db), std::move(lock), mode)));
  } catch (const SQLite::Exception& error) {
    return fail(sqlite_error(error, path));
  }
}

Store::Store(std::unique_ptr<Connection> connection) : connection_(std::move(connection)) {}
Store::~Store() = default;

}  // namespace assay::server
