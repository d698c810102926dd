// The SQLite connection of a Store. Its functions turn SQLite's exceptions into Errors. Only
// server/store includes this header.
//
// Binds values to statements and reads the JSON columns. Only server/store includes this header.
#pragma once

#include <SQLiteCpp/Database.h>
#include <SQLiteCpp/Exception.h>
#include <SQLiteCpp/Statement.h>
#include <SQLiteCpp/Transaction.h>

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>

#include "base/mutex.h"
#include "base/result.h"
#include "base/unique_fd.h"
#include "sandbox/job/job.h"
#include "server/store/store.h"

namespace assay::server {

/// Converts an exception; the message names `path`.
Error sqlite_error(const SQLite::Exception& error, const std::filesystem::path& path);

struct Store::Connection {
  Connection(std::filesystem::path file, SQLite::Database database, UniqueFd lock,
             StoreMode open_mode)
      : path(std::move(file)),
        writer_lock(std::move(lock)),
        db(std::move(database)),
        mode(open_mode) {}

  const std::filesystem::path path;
  const UniqueFd
      writer_lock;  // outlives db: keeps out other writers until the connection is closed
  Mutex mutex;
  SQLite::Database db ASSAY_GUARDED_BY(mutex);
  const StoreMode mode;

  /// Calls `work(db)`, which returns a Result or Status, with the connection locked.
  template <class Work>
  auto with(Work&& work) -> decltype(work(db)) {
    const MutexLock lock(mutex);
    try {
      return work(db);
    } catch (const SQLite::Exception& error) {
      return fail(sqlite_error(error, path));
    }
  }

  /// Calls `work(db)` like with(), in one transaction, which is committed if `work` succeeds.
  /// Refuses on a read-only store. After the return, kill -9 of this process cannot lose the write;
  /// with `durable`, a power failure cannot either.
  template <class Work>
  auto write(Work&& work, bool durable = false) -> decltype(work(db)) {
    return with([&](SQLite::Database& database) -> decltype(work(db)) {
      if (mode == StoreMode::read_only)
        return fail(ErrorCode::unavailable,
                    "store " + path.string() + " was opened for reading only");
      const Synchronous level(database, durable);
      SQLite::Transaction transaction(database, SQLite::TransactionBehavior::IMMEDIATE);
      auto result = work(database);
      if (result) transaction.commit();
      return result;
    });
  }

 private:
  /// FULL makes each commit wait for the disk. It must be set outside a transaction.
  struct Synchronous {
    Synchronous(SQLite::Database& database, bool full_now) : db(database), full(full_now) {
      if (full) db.exec("PRAGMA synchronous=FULL");
    }
    ~Synchronous() {
      if (full)
        db.tryExec("PRAGMA synchronous=NORMAL");  // after a failure writes are slower, as safe
    }
    Synchronous(const Synchronous&) = delete;
    Synchronous& operator=(const Synchronous&) = delete;
    SQLite::Database& db;
    const bool full;
  };
};

inline void bind_one(SQLite::Statement& statement, int index, const std::string& value) {
  statement.bind(index, value);
}
inline void bind_one(SQLite::Statement& statement, int index, std::int64_t value) {
  statement.bind(index, value);
}
inline void bind_one(SQLite::Statement& statement, int index, double value) {
  statement.bind(index, value);
}
inline void bind_one(SQLite::Statement& statement, int index, const std::optional<double>& value) {
  if (value)
    statement.bind(index, *value);
  else
    statement.bind(index);
}

/// Binds in order, from 1.
template <class... Values>
void bind_all(SQLite::Statement& statement, const Values&... values) {
  int index = 0;
  (bind_one(statement, ++index, values), ...);
}

/// Parses the `document` column of verdicts. Error: `corrupt`, naming the job.
Result<sandbox::Verdict> verdict_of(const std::string& document, const std::string& job);

}  // namespace assay::server
