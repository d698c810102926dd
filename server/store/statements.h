// Statements keeps the prepared statements of a connection, because the preparation of a short
// statement takes longer than its execution. A borrowed statement is reset when the borrower ends.
//
//   Statements statements;
//   const auto query = statements.prepared(db, "SELECT source FROM submissions WHERE job = ?");
//   bind_all(*query, job);
//   if (query->executeStep()) return query->getColumn(0).getString();
//
// Not thread-safe: the mutex of the connection guards it. The texts must live as long as the
// object, so they are literals. If the tables change, SQLite prepares a statement again.
#pragma once

#include <SQLiteCpp/Database.h>
#include <SQLiteCpp/Statement.h>

#include <map>
#include <memory>
#include <string_view>

namespace assay::server {

class Statements {
 public:
  struct Reset {
    void operator()(SQLite::Statement* statement) const {
      statement->tryReset();
      statement->clearBindings();
    }
  };
  using Borrowed = std::unique_ptr<SQLite::Statement, Reset>;

  /// Returns the statement, which it prepares at its first use. A statement may not be borrowed
  /// again before its borrower has ended. Throws SQLite::Exception.
  Borrowed prepared(SQLite::Database& db, const char* sql) {
    const std::string_view text(sql);
    auto known = known_.find(text);
    if (known == known_.end()) known = known_.try_emplace(text, db, sql).first;
    return Borrowed(&known->second);
  }
  /// Forgets all statements. Must be called before the connection is closed.
  void clear() { known_.clear(); }

 private:
  std::map<std::string_view, SQLite::Statement> known_;
};

}  // namespace assay::server
