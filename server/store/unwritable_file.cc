#include "server/store/unwritable_file.h"

#include <SQLiteCpp/Exception.h>

#include <array>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <system_error>
#include <utility>

#include "base/clock.h"
#include "base/log.h"
#include "server/store/connection.h"
#include "server/store/store_file.h"

namespace assay::server {
namespace {

namespace fs = std::filesystem;

/// The time between two attempts to open the file for writing. An attempt takes some milliseconds,
/// and many calls may want to write.
constexpr std::chrono::nanoseconds kPause = std::chrono::seconds(1);

/// The ways to read a database in WAL mode, in the order in which they are tried.
enum class Way {
  /// The usual way. It needs the file STORE-shm, and room in it.
  shared,
  /// SQLite keeps the index of the log in memory, not in STORE-shm. No other process can read the
  /// database meanwhile.
  exclusive,
  /// SQLite reads nothing but the database. This is correct if no process can write the database
  /// and its log is empty.
  immutable,
};

std::string uri_of(const fs::path& path) {
  std::string uri = "file:";
  for (const char c : fs::absolute(path).string()) {
    if (c == '%' || c == '?' || c == '#') {
      constexpr std::string_view kHex = "0123456789ABCDEF";
      const auto byte = static_cast<unsigned char>(c);
      uri.append({'%', kHex[byte >> 4U], kHex[byte & 15U]});
    } else {
      uri += c;
    }
  }
  return uri + "?immutable=1";
}

bool log_is_empty(const fs::path& path) {
  std::error_code code;
  const std::uintmax_t bytes = fs::file_size(path.string() + "-wal", code);
  return code || bytes == 0;
}

SQLite::Database open_in(Way way, const fs::path& path) {
  if (way == Way::immutable)
    return {uri_of(path), SQLite::OPEN_READONLY | SQLite::OPEN_URI, kBusyTimeoutMs};
  if (way == Way::shared) return {path.string(), SQLite::OPEN_READONLY, kBusyTimeoutMs};
  SQLite::Database db(path.string(), SQLite::OPEN_READWRITE, kBusyTimeoutMs);
  db.exec("PRAGMA locking_mode=EXCLUSIVE");
  return db;
}

Result<SQLite::Database> readable(const fs::path& path) {
  std::optional<Error> last;
  for (const Way way : {Way::shared, Way::exclusive, Way::immutable}) {
    if (way == Way::immutable && !log_is_empty(path)) continue;
    try {
      SQLite::Database db = open_in(way, path);
      ASSAY_RETURN_IF_ERROR(check_store_identity(db, path));
      ASSAY_RETURN_IF_ERROR(prepare_for_reading(db, path));
      return db;
    } catch (const SQLite::Exception& error) {
      last = sqlite_error(error, path);
      if (last->code != ErrorCode::unavailable) break;  // damaged: another way reads no better
    }
  }
  return fail(std::move(*last));
}

}  // namespace

Result<ReadableFile> open_unwritable_file(const fs::path& path) {
  UniqueFd lock;
  // If the lock file cannot be opened, no process can write to the store. So only a lock that
  // another process holds is an error.
  if (auto locked = try_lock_store_file(path)) {
    if (!*locked) return fail(in_use(path));
    lock = std::move(**locked);
  }
  ASSAY_TRY(db, readable(path));
  return ReadableFile{std::move(db), std::move(lock)};
}

Status Store::Connection::make_writable() {
  if (can_write) return {};
  const MutexLock locked(mutex);
  if (can_write) return {};
  const auto refused = [&](const std::string& why) {
    return fail(ErrorCode::unavailable,
                "the store cannot be written at present: " + why +
                    ". Nothing was stored or charged. Send the call again later");
  };
  const std::int64_t now_ns = system_clock().monotonic_ns();
  if (now_ns < next_attempt_ns) return refused("the last attempt was less than a second ago");
  next_attempt_ns = now_ns + kPause.count();
  if (!writer_lock) {
    auto lock = lock_store_file(path);
    if (!lock) return refused(lock.error().message);
    writer_lock = std::move(*lock);
  }
  std::string why;
  try {
    statements.clear();
    // The old connection must be closed first, because it may hold an exclusive lock.
    db = SQLite::Database(":memory:", SQLite::OPEN_READWRITE);
    SQLite::Database writing(path.string(), SQLite::OPEN_READWRITE, kBusyTimeoutMs);
    const Status ready = prepare_for_writing(writing, path);
    if (ready) {
      db = std::move(writing);
      can_write = true;
      log::info("the store can be written again", {{"store", path.string()}});
      return {};
    }
    why = ready.error().message;
  } catch (const SQLite::Exception& error) {
    why = sqlite_error(error, path).message;
  }
  auto again = readable(path);
  if (!again) return refused(again.error().message);
  db = std::move(*again);
  return refused(why);
}

}  // namespace assay::server
