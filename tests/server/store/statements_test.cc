#include "server/store/statements.h"

#include <SQLiteCpp/SQLiteCpp.h>

#include <string>

#include "server/store/connection.h"
#include "tests/catch.h"

using namespace assay;
using namespace assay::server;

namespace {

constexpr const char* kInsert = "INSERT INTO numbers VALUES (?)";

struct NumberTable {
  NumberTable() { db.exec("CREATE TABLE numbers (n INTEGER PRIMARY KEY)"); }
  int insert(std::int64_t n) {
    const auto statement = statements.prepared(db, kInsert);
    bind_all(*statement, n);
    return statement->exec();
  }
  int count() { return db.execAndGet("SELECT count(*) FROM numbers").getInt(); }

  SQLite::Database db{":memory:", SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE};
  Statements statements;
};

}  // namespace

TEST_CASE("a statement can be borrowed again, also after an error and a rollback") {
  NumberTable numbers;
  CHECK(numbers.insert(1) == 1);
  CHECK_THROWS_AS(numbers.insert(1), SQLite::Exception);
  {
    const SQLite::Transaction rolled_back(numbers.db);
    CHECK(numbers.insert(2) == 1);
  }
  CHECK(numbers.insert(3) == 1);
  CHECK(numbers.count() == 2);
  numbers.db.exec("ALTER TABLE numbers ADD COLUMN text");
  CHECK_THROWS_AS(numbers.insert(4), SQLite::Exception);  // prepared again: it lacks a value
}

TEST_CASE("a borrowed statement keeps no values and no place in its rows") {
  NumberTable numbers;
  numbers.insert(1);
  numbers.insert(2);
  for (int i = 0; i < 2; ++i) {
    const auto query = numbers.statements.prepared(numbers.db, "SELECT n FROM numbers");
    REQUIRE(query->executeStep());
    CHECK(query->getColumn(0).getInt() == 1);
  }
  const auto unbound = numbers.statements.prepared(numbers.db, kInsert);
  unbound->exec();  // NULL: the table chooses the number
  CHECK(numbers.count() == 3);
}
