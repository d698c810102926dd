// Connection is a Store's connection to SQLite. It serialises all calls, makes transactions durable
// and converts SQLite's exceptions to Errors. The functions after the class bind values to
// statements. Only server/store includes this header. Thread-safe.
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

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/mutex.h"
#include "base/result.h"
#include "base/unique_fd.h"
#include "sandbox/job/job.h"
#include "server/store/commit_group.h"
#include "server/store/statements.h"
#include "server/store/store.h"

namespace assay::server {

/// Converts an exception to an Error whose message names `path`.
Error sqlite_error(const SQLite::Exception& error, const std::filesystem::path& path);

/// Commits the writes in one transaction, and waits for the disk. If this transaction fails,
/// commits each write in its own transaction, so that an error of one write does not affect the
/// others. Sets the status of each write. The message of an error names `path`.
void commit_durably(SQLite::Database& db, const std::filesystem::path& path,
                    const CommitGroup::Writes& writes);

/// Returns the number of bytes of a column of text in the rows that `where` selects, for example
/// " WHERE job = 'a'". Empty: in all rows.
std::int64_t bytes_of_column(SQLite::Database& db, const std::string& table,
                             const std::string& column, const std::string& where = "");

struct Store::Connection {
  Connection(std::filesystem::path file, SQLite::Database database, UniqueFd lock,
             StoreMode open_mode)
      : path(std::move(file)),
        writer_lock(std::move(lock)),
        db(std::move(database)),
        mode(open_mode),
        can_write(open_mode == StoreMode::read_write),
        durable_writes([this](const CommitGroup::Writes& writes) {
          const MutexLock locked(mutex);
          commit_durably(db, path, writes);
        }) {}

  const std::filesystem::path path;
  UniqueFd writer_lock;  // declared before db, so that it is released after db is closed
  mutable Mutex mutex;
  SQLite::Database db ASSAY_GUARDED_BY(mutex);
  Statements statements;  // of db; only work that with() or a write calls may use it
  const StoreMode mode;
  std::atomic<bool> can_write;  // false becomes true when make_writable() succeeds
  std::int64_t next_attempt_ns ASSAY_GUARDED_BY(mutex) = 0;
  CommitGroup durable_writes;

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

  /// Calls `work(db)` like with(), but inside a transaction, which is committed if `work` succeeds.
  /// Returns an error if the store is read-only. When this function has returned, the write
  /// survives a kill -9 of this process, but may be lost in a power failure.
  template <class Work>
  auto write(Work&& work) -> decltype(work(db)) {
    ASSAY_RETURN_IF_ERROR(check_writes());
    return with([&](SQLite::Database& database) -> decltype(work(db)) {
      SQLite::Transaction transaction(database, SQLite::TransactionBehavior::IMMEDIATE);
      auto result = work(database);
      if (result) transaction.commit();
      return result;
    });
  }

  /// Calls `work(db)` like write(), but the write also survives a power failure. Writes of several
  /// threads share a transaction. So another thread may call `work`, and `work` may be called again
  /// after a rollback.
  template <class Work>
  auto write_durably(Work&& work) -> decltype(work(db)) {
    return std::move(write_all_durably(1, [&](std::size_t, SQLite::Database& database) {
                       return work(database);
                     }).front());
  }

  /// Makes `count` writes like write_durably(), in one transaction. Calls `work(i, db)` for each
  /// `i` below `count`. A failed write does not disturb the others.
  template <class Work>
  auto write_all_durably(std::size_t count, Work&& work)
      -> std::vector<decltype(work(std::size_t{}, db))> {
    using Outcome = decltype(work(std::size_t{}, db));
    if (const Status writes = check_writes(); !writes)
      return std::vector<Outcome>(count, fail(writes.error()));
    std::vector<std::optional<Outcome>> results(count);
    std::vector<CommitGroup::Apply> applies;
    for (std::size_t i = 0; i < count; ++i)
      applies.push_back([&work, &results, i](SQLite::Database& database) {
        results[i].emplace(work(i, database));
        return results[i]->has_value();
      });
    std::vector<Status> committed = durable_writes.commit_all(std::move(applies));
    std::vector<Outcome> outcomes;
    for (std::size_t i = 0; i < count; ++i) {
      if (committed[i])
        outcomes.push_back(std::move(*results[i]));
      else
        outcomes.push_back(fail(committed[i].error()));
    }
    return outcomes;
  }

  bool writable() const { return can_write; }
  /// Opens the file for writing, if it is open for reading until it can be written. Defined in
  /// unwritable_file.cc.
  Status make_writable();

 private:
  Status check_writes() {
    if (can_write) return {};
    if (mode == StoreMode::write_when_possible) return make_writable();
    return fail(ErrorCode::unavailable, "store " + path.string() + " was opened for reading only");
  }
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

/// Inserts the row of a run. Defined in store_runs.cc.
void insert_run_row(SQLite::Database& db, const tools::RunInfo& run, const std::string& principal);

/// Parses the column `document` of the table `verdicts`. Error: corrupt; the message names the job.
Result<sandbox::Verdict> verdict_of(const std::string& document, const std::string& job);

}  // namespace assay::server
