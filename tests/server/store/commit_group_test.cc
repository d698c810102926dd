// Tests that writes of several threads share a commit, and that a failed write does not make the
// other writes fail.
#include "server/store/commit_group.h"

#include <SQLiteCpp/SQLiteCpp.h>
#include <sqlite3.h>

#include <array>
#include <latch>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "server/store/connection.h"
#include "tests/catch.h"

namespace assay::server {
namespace {

/// A database in memory with one table of unique numbers.
struct Numbers {
  Numbers() { db.exec("CREATE TABLE numbers (n INTEGER PRIMARY KEY)"); }

  /// Returns a write that inserts the number, and then returns `keep`.
  CommitGroup::Write insert(int n, bool keep = true) {
    return {.apply = [n, keep](SQLite::Database& into) {
      into.exec("INSERT INTO numbers VALUES (" + std::to_string(n) + ")");
      return keep;
    }};
  }
  std::vector<int> kept() {
    std::vector<int> found;
    SQLite::Statement query(db, "SELECT n FROM numbers ORDER BY n");
    while (query.executeStep()) found.push_back(query.getColumn(0).getInt());
    return found;
  }

  SQLite::Database db{":memory:", SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE};
};

bool keep_all(SQLite::Database&) { return true; }

}  // namespace

TEST_CASE("writes that arrive during a commit become one commit") {
  constexpr int kLater = 5;
  std::vector<std::size_t> commits;
  std::latch first_commits(1), others_wait(1);
  CommitGroup group([&](const CommitGroup::Writes& writes) {
    commits.push_back(writes.size());
    if (commits.size() > 1) return;
    first_commits.count_down();
    others_wait.wait();
  });
  std::vector<Status> results(kLater + 1, fail(ErrorCode::internal, "not set"));
  std::vector<std::jthread> threads;
  const auto write = [&](int i) {
    threads.emplace_back([&results, &group, i] { results[i] = group.commit(keep_all); });
  };
  write(kLater);
  first_commits.wait();
  for (int i = 0; i < kLater; ++i) write(i);
  group.wait_for_waiting(kLater);
  others_wait.count_down();
  threads.clear();
  CHECK(commits == std::vector<std::size_t>{1, kLater});
  for (const Status& result : results) CHECK(result);
}

TEST_CASE("several writes of one call become one commit, and each gets its status") {
  std::vector<std::size_t> commits;
  CommitGroup group([&](const CommitGroup::Writes& writes) {
    commits.push_back(writes.size());
    writes[1]->status = fail(ErrorCode::unavailable, "the second one");
  });
  const std::vector<Status> results = group.commit_all({keep_all, keep_all, keep_all});
  CHECK(commits == std::vector<std::size_t>{3});
  CHECK(results[0]);
  CHECK_FALSE(results[1]);
  CHECK(results[2]);
  CHECK(group.commit_all({}).empty());
  CHECK(commits.size() == 1);
}

TEST_CASE("each thread gets the status of its own write") {
  std::latch first_commits(1), others_wait(1);
  bool first = true;
  CommitGroup group([&](const CommitGroup::Writes& writes) {
    if (std::exchange(first, false)) {
      first_commits.count_down();
      others_wait.wait();
      return;
    }
    writes.back()->status = fail(ErrorCode::unavailable, "the last one");
  });
  std::array<Status, 3> results;
  {
    const std::jthread one([&] { results[0] = group.commit(keep_all); });
    first_commits.wait();
    const std::jthread two([&] { results[1] = group.commit(keep_all); });
    group.wait_for_waiting(1);
    const std::jthread three([&] { results[2] = group.commit(keep_all); });
    group.wait_for_waiting(2);
    others_wait.count_down();
  }
  CHECK(results[0]);
  CHECK(results[1]);
  REQUIRE_FALSE(results[2]);
  CHECK(results[2].error().message == "the last one");
}

TEST_CASE("a write that throws fails alone") {
  Numbers numbers;
  CommitGroup::Write one = numbers.insert(1), again = numbers.insert(1), two = numbers.insert(2);
  CommitGroup::Write broken{
      .apply = [](SQLite::Database&) -> bool { throw std::runtime_error("no SQL at all"); }};
  commit_durably(numbers.db, "x.db", {&one, &again, &broken, &two});
  CHECK(numbers.kept() == std::vector{1, 2});
  CHECK(one.status);
  CHECK(two.status);
  REQUIRE_FALSE(again.status);
  CHECK(again.status.error().message == "store x.db: UNIQUE constraint failed: numbers.n");
  REQUIRE_FALSE(broken.status);
  CHECK(broken.status.error().code == ErrorCode::internal);
  CHECK(broken.status.error().message == "store x.db: no SQL at all");
}

TEST_CASE("an error of the whole store is not looked for in each write") {
  Numbers numbers;
  int attempts = 0;
  CommitGroup::Write busy{.apply = [&](SQLite::Database&) -> bool {
    ++attempts;
    throw SQLite::Exception("database is locked", SQLITE_BUSY);
  }};
  CommitGroup::Write one = numbers.insert(1);
  commit_durably(numbers.db, "x.db", {&one, &busy});
  CHECK(attempts == 1);
  for (const CommitGroup::Write* write : {&one, &busy}) {
    REQUIRE_FALSE(write->status);
    CHECK(write->status.error().code == ErrorCode::unavailable);
  }
  CHECK(numbers.kept().empty());
}

TEST_CASE("a write that is not to be kept is rolled back alone") {
  Numbers numbers;
  CommitGroup::Write one = numbers.insert(1), not_kept = numbers.insert(7, false),
                     two = numbers.insert(2);
  commit_durably(numbers.db, "x.db", {&one, &not_kept, &two});
  CHECK(numbers.kept() == std::vector{1, 2});
  CHECK(not_kept.status);
  CommitGroup::Write alone = numbers.insert(8, false);
  commit_durably(numbers.db, "x.db", {&alone});
  CHECK(numbers.kept() == std::vector{1, 2});
}

TEST_CASE("writes of which the commit itself fails get its error, and nothing is kept") {
  Numbers numbers;
  numbers.db.exec("PRAGMA foreign_keys=ON");
  numbers.db.exec(
      "CREATE TABLE children (n INTEGER REFERENCES numbers(n) DEFERRABLE INITIALLY DEFERRED)");
  CommitGroup::Write child{.apply = [](SQLite::Database& db) {
    db.exec("INSERT INTO children VALUES (99)");  // fails when the transaction is committed
    return true;
  }};
  CommitGroup::Write one = numbers.insert(1);
  commit_durably(numbers.db, "x.db", {&child, &one});
  CHECK_FALSE(child.status);
  CHECK(one.status);
  CHECK(numbers.kept() == std::vector{1});
  CHECK(numbers.db.execAndGet("SELECT count(*) FROM children").getInt() == 0);
}

}  // namespace assay::server
