#include "server/store/connection.h"

#include <SQLiteCpp/Savepoint.h>
#include <sqlite3.h>

#include <exception>

namespace assay::server {
namespace {

/// Sets SQLite's option `synchronous` to FULL while this object exists, so that each commit waits
/// for the disk. SQLite does not allow a change of this option inside a transaction.
class WaitForDisk {
 public:
  explicit WaitForDisk(SQLite::Database& db) : db_(db) { db_.exec("PRAGMA synchronous=FULL"); }
  // If this statement fails, `synchronous` stays FULL. Later writes are then slower, but safe.
  ~WaitForDisk() { db_.tryExec("PRAGMA synchronous=NORMAL"); }
  WaitForDisk(const WaitForDisk&) = delete;
  WaitForDisk& operator=(const WaitForDisk&) = delete;

 private:
  SQLite::Database& db_;
};

/// Returns true if the error is not one of a single write.
bool fails_for_all(const SQLite::Exception& error) {
  const int code = error.getErrorCode();
  return code == SQLITE_BUSY || code == SQLITE_LOCKED || code == SQLITE_READONLY;
}

void apply_and_commit(SQLite::Database& db, const CommitGroup::Writes& writes) {
  const WaitForDisk durable(db);
  SQLite::Transaction transaction(db, SQLite::TransactionBehavior::IMMEDIATE);
  if (writes.size() == 1) {
    if (writes.front()->apply(db)) transaction.commit();  // else its destructor rolls back
    return;
  }
  for (CommitGroup::Write* write : writes) {
    SQLite::Savepoint savepoint(db, "one_write");  // its destructor rolls the write back
    if (write->apply(db)) savepoint.release();
  }
  transaction.commit();
}

}  // namespace

std::int64_t bytes_of_column(SQLite::Database& db, const std::string& table,
                             const std::string& column, const std::string& where) {
  return db
      .execAndGet("SELECT ifnull(sum(length(CAST(" + column + " AS BLOB))), 0) FROM " + table +
                  where)
      .getInt64();
}

void commit_durably(SQLite::Database& db, const std::filesystem::path& path,
                    const CommitGroup::Writes& writes) {
  if (writes.size() > 1) {
    try {
      apply_and_commit(db, writes);
      return;
    } catch (const SQLite::Exception& error) {
      // Each attempt may wait for another process, so such an error is not looked for in each
      // write.
      if (fails_for_all(error)) {
        for (CommitGroup::Write* write : writes) write->status = fail(sqlite_error(error, path));
        return;
      }
    } catch (const std::exception&) {
      // Nothing was committed. The loop below commits each write alone, so that only the write with
      // the error fails.
    }
  }
  for (CommitGroup::Write* write : writes) {
    try {
      apply_and_commit(db, {write});
    } catch (const SQLite::Exception& error) {
      write->status = fail(sqlite_error(error, path));
    } catch (const std::exception& error) {
      write->status = fail(ErrorCode::internal, "store " + path.string() + ": " + error.what());
    }
  }
}

}  // namespace assay::server
