// The connection behind a Store, and the border at which SQLite's exceptions become Errors. For
// server/store only.
#pragma once

#include <SQLiteCpp/Database.h>
#include <SQLiteCpp/Exception.h>
#include <SQLiteCpp/Statement.h>
#include <SQLiteCpp/Transaction.h>

#include <filesystem>
#include <mutex>
#include <string>
#include <utility>

#include "base/result.h"
#include "base/unique_fd.h"
#include "server/store/store.h"

namespace assay::server {

/// `what` SQLite could not do with `path`, as the ErrorCode that fits.
Error sqlite_error(const SQLite::Exception& error, const std::filesystem::path& path);

struct Store::Connection {
  Connection(std::filesystem::path file, SQLite::Database database, UniqueFd lock,
             StoreMode open_mode)
      : path(std::move(file)),
        writer_lock(std::move(lock)),
        db(std::move(database)),
        mode(open_mode) {}

  std::filesystem::path path;
  UniqueFd writer_lock;  // outlives db: nobody else may write before this connection is closed
  SQLite::Database db;
  StoreMode mode;
  std::mutex mutex;

  /// Calls `work(db)`, which returns a Result or Status, alone on the connection.
  template <class Work>
  auto with(Work&& work) -> decltype(work(db)) {
    const std::lock_guard lock(mutex);
    try {
      return work(db);
    } catch (const SQLite::Exception& error) {
      return fail(sqlite_error(error, path));
    }
  }

  /// As with(), for writers: refused on a read-only store, in one transaction that is committed
  /// when `work` succeeds. When the call returns, kill -9 of this process cannot lose the write;
  /// with `durable` a power failure cannot either.
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
        db.tryExec("PRAGMA synchronous=NORMAL");  // left at FULL, writes are slower and as safe
    }
    Synchronous(const Synchronous&) = delete;
    Synchronous& operator=(const Synchronous&) = delete;
    SQLite::Database& db;
    const bool full;
  };
};

}  // namespace assay::server
