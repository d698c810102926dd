#include "server/store/store_file.h"

#include <fcntl.h>
#include <sqlite3.h>
#include <sys/file.h>

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <string>
#include <system_error>
#include <utility>

#include "base/log.h"
#include "base/private_path.h"
#include "server/store/connection.h"
#include "server/store/schema.h"
#include "server/store/store_writer.h"

namespace assay::server {
namespace {

namespace fs = std::filesystem;

/// The size in bytes of the largest file that is checked for damage when it is opened. The check
/// reads the whole file, which takes too long for a larger file. There, damage is found only when
/// damaged rows are read.
constexpr std::uintmax_t kQuickCheckMaxBytes = 64 << 20;

/// The size in bytes to which SQLite shortens its log after a checkpoint. A large artifact makes
/// the log longer for a time.
constexpr int kMostLogBytes = 16 << 20;
/// The pages of 4 KiB in the log after which SQLite copies them into the database, and waits for
/// the disk twice. A long log has several versions of a page, of which only the newest is copied.
/// With SQLite's default of 1,000 pages, a server waited for the disk a quarter more often.
constexpr int kCheckpointPages = 3'000;

void create_schema(SQLite::Database& db) {
  SQLite::Transaction transaction(db, SQLite::TransactionBehavior::EXCLUSIVE);
  db.exec(kSchemaSql);
  db.exec(kCallerSizesSql);
  db.exec(kAdditionsSql);
  db.exec(kImportedFilesSql);
  db.exec(kCallIdsSql);
  db.exec(kLiveSql);
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
  if (version < 3) db.exec(kMigrateFromVersion2Sql);
  if (version < 4) db.exec(kMigrateFromVersion3Sql);
  if (version < 5) db.exec(kMigrateFromVersion4Sql);
  if (version < 6) {
    db.exec(kCallerSizesSql);
    db.exec(kMigrateFromVersion5Sql);
  }
  if (version < 7) db.exec(kMigrateFromVersion6Sql);
  if (version < 8) {
    db.exec(kAdditionsSql);
    db.exec(kLiveSql);
  }
  if (version < 9) db.exec(kImportedFilesSql);
  if (version < 10) db.exec(kCallIdsSql);
  db.exec("PRAGMA user_version=" + std::to_string(kSchemaVersion));
  transaction.commit();
}

}  // namespace

Error not_writable(const fs::path& path, const std::string& why) {
  return Error{ErrorCode::unavailable, "store " + path.string() + " cannot be written: " + why +
                                           "; name another file with --store"};
}

Error in_use(const fs::path& path) {
  const StoreWriter writer = other_writer(path).value_or(StoreWriter{});
  return Error{ErrorCode::unavailable,
               "store " + path.string() + " is in use by another Assay" +
                   (writer.pid == 0 ? "" : " (" + to_string(writer) + ")") +
                   "; stop that process, or name another file with --store"};
}

Status check_store_exists(const fs::path& path) {
  std::error_code code;
  if (fs::exists(path, code)) return {};
  return fail(
      ErrorCode::not_found,
      "store " + path.string() + ": no such file; `assay serve` and `assay bench` create one");
}

Status check_store_identity(SQLite::Database& db, const fs::path& path) {
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
  return {};
}

Status check_store_file(const fs::path& path) {
  SQLite::Database db(path.string(), SQLite::OPEN_READONLY, kBusyTimeoutMs);
  ASSAY_RETURN_IF_ERROR(check_store_identity(db, path));
  std::error_code code;
  if (fs::file_size(path, code) <= kQuickCheckMaxBytes && !code) {
    const std::string found = db.execAndGet("PRAGMA quick_check(1)").getString();
    if (found != "ok")
      return fail(ErrorCode::corrupt, "store " + path.string() + " is damaged: " + found +
                                          "; restore a copy, or name another file with --store");
  }
  return {};
}

Result<std::optional<UniqueFd>> try_lock_store_file(const fs::path& path) {
  // The lock is on a separate file, not on the database. If a descriptor of the database were
  // opened and closed here, SQLite would lose its own locks on the database.
  const std::string lock_path = path.string() + ".lock";
  UniqueFd fd(::open(lock_path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
  if (!fd) return fail(not_writable(path, "open " + lock_path + ": " + std::strerror(errno)));
  if (::flock(fd.get(), LOCK_EX | LOCK_NB) == 0) {
    // Without the name, only messages about a store in use are less exact.
    if (const Status named = name_writer(fd.get(), lock_path); !named)
      log::warning("the lock file does not name this process", {{"error", named.error().message}});
    return std::optional(std::move(fd));
  }
  const int error_number = errno;
  if (error_number == EWOULDBLOCK) return std::optional<UniqueFd>();
  return fail(not_writable(path, "flock " + lock_path + ": " + std::strerror(error_number)));
}

Result<UniqueFd> lock_store_file(const fs::path& path) {
  ASSAY_TRY(lock, try_lock_store_file(path));
  if (lock) return std::move(*lock);
  return fail(in_use(path));
}

void keep_store_private(const fs::path& path) {
  std::optional<unsigned> before;
  for (const char* suffix : {"", "-wal", "-shm"}) {
    const fs::path file = path.string() + suffix;
    std::error_code code;
    if (!fs::exists(file, code)) continue;
    const Result<std::optional<unsigned>> was = narrow_permissions(file);
    if (!was)
      log::warning("other users can access the store", {{"error", was.error().message}});
    else if (*was)
      before = **was;
  }
  if (before)
    log::warning("other users could access the store; now only its owner can",
                 {{"store", path.string()}, {"mode_before", octal_mode(*before)}});
}

Status prepare_for_writing(SQLite::Database& db, const fs::path& path) {
  // SQLite opens a write-protected file without an error, but only for reading. Therefore this
  // check is needed.
  if (sqlite3_db_readonly(db.getHandle(), "main") == 1)
    return fail(not_writable(path, "the file is write-protected"));
  const int tables = db.execAndGet("SELECT count(*) FROM sqlite_master").getInt();
  // With this setting, pages of removed rows can be given back to the file system. It must be set
  // before the first page is written.
  if (tables == 0) db.exec("PRAGMA auto_vacuum=INCREMENTAL");
  db.exec("PRAGMA journal_mode=WAL");
  db.exec("PRAGMA journal_size_limit=" + std::to_string(kMostLogBytes));
  db.exec("PRAGMA wal_autocheckpoint=" + std::to_string(kCheckpointPages));
  // With this setting, SQLite overwrites removed content with zeros only if that needs no further
  // writes. Otherwise, the removal of a large artifact would write as many bytes to the log as the
  // artifact has.
  db.exec("PRAGMA secure_delete=FAST");
  db.exec("PRAGMA synchronous=NORMAL");
  db.exec("PRAGMA foreign_keys=ON");
  if (tables == 0) {
    create_schema(db);
  } else {
    migrate(db);
  }
  // This transaction changes nothing. It fails if the file cannot be written. Its destructor rolls
  // it back.
  SQLite::Transaction can_write(db, SQLite::TransactionBehavior::IMMEDIATE);
  return {};
}

Status prepare_for_reading(SQLite::Database& db, const fs::path& path) {
  if (db.execAndGet("SELECT count(*) FROM sqlite_master").getInt() == 0)
    return fail(ErrorCode::corrupt,
                "store " + path.string() + " is empty; `assay serve` and `assay bench` fill it");
  if (db.execAndGet("PRAGMA user_version").getInt() == 1)
    db.exec(db.tableExists("free_usage") ? kReadVersion1WithFreeUsageSql : kReadVersion1Sql);
  if (db.execAndGet("PRAGMA user_version").getInt() < 7) db.exec(kReadBeforeVersion7Sql);
  return {};
}

}  // namespace assay::server
