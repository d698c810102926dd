// Connection is a Store's connection to SQLite. It serialises all calls, makes transactions durable
// and converts SQLite's exceptions to Errors. The functions below it bind values to statements.
// Only server/store includes this header. Thread-safe.
//
//   return connection_->with([&](SQLite::Database& db) -> Result<std::string> {
//     SQLite::Statement query(db, "SELECT source FROM submissions WHERE job = ?");
//     bind_all(query, job);
//     query.executeStep();
//     return query.getColumn(0).getString();
//   });
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

/// Converts an exception to an Error whose message names `path`.
Error sqlite_error(const SQLite::Exception& error, const std::filesystem::path& path);

struct Store::Connection {
  Connection(std::filesystem::path file, SQLite::Database database, UniqueFd lock,
             StoreMode open_mode)
      : path(std::move(file)),
        writer_lock(std::move(lock)),
        db(std::move(database)),
        mode(open_mode) {}

  const std::filesystem::path path;
  const UniqueFd writer_lock;  // declared before db, so that it is released after db is closed
  Mutex mutex;
  SQLite::Database db ASSAY_GUARDED_BY(mutex);
  const StoreMode mode;

  /// Locks the connection and calls `work(db)`, which returns a Result or a Status.
  template <class Work>
  auto with(Work&& work) -> decltype(work(db)) {
    const MutexLock lock(mutex);
    try {
      return work(db);
    } catch (const SQLite::Exception& error) {
      return fail(sqlite_error(error, path));
    }
  }

  /// Calls `work(db)` like with(), but in one transaction, which is committed if `work` succeeds.
  /// Returns an error for a read-only store. After the return, a kill -9 of this process cannot
  /// lose the write. If `durable` is true, a power failure cannot lose the write either.
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
  /// Sets SQLite's level FULL while the object exists: each commit then waits for the disk. The
  /// level cannot be set inside a transaction.
  struct Synchronous {
    Synchronous(SQLite::Database& database, bool full_now) : db(database), full(full_now) {
      if (full) db.exec("PRAGMA synchronous=FULL");
    }
    ~Synchronous() {
      // If this fails, later writes are slower, but still safe.
      if (full) db.tryExec("PRAGMA synchronous=NORMAL");
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

/// Binds the values to the parameters 1, 2, ... of the statement, in this order.
template <class... Values>
void bind_all(SQLite::Statement& statement, const Values&... values) {
  int index = 0;
  (bind_one(statement, ++index, values), ...);
}

/// Parses the `document` column of the table verdicts. Error: corrupt, and the message names the
/// job.
Result<sandbox::Verdict> verdict_of(const std::string& document, const std::string& job);

}  // namespace assay::server
