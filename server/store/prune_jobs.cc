#include "server/store/prune_jobs.h"

#include <SQLiteCpp/Statement.h>

#include <string>

#include "server/store/connection.h"

namespace assay::server {
namespace {

/// Selects the jobs that may be removed. The parameter is the time before which they ended.
constexpr const char* kOldJobs =
    "SELECT s.job FROM submissions s LEFT JOIN runs r ON r.run = s.run "
    "WHERE s.finished_unix_ms < ?1 AND (s.run = '' OR r.track = 'practice')";

/// Selects the runs that may be removed when the jobs above are gone.
constexpr const char* kOldRuns =
    "SELECT r.run FROM runs r WHERE r.track = 'practice' AND r.expires_unix_ms < ?1 "
    "AND NOT EXISTS (SELECT 1 FROM submissions s WHERE s.run = r.run "
    "AND (s.finished_unix_ms IS NULL OR s.finished_unix_ms >= ?1))";

/// Puts the names of the selected jobs or runs into the temporary table `going`, and returns how
/// many they are. A read-only connection can do so too.
std::int64_t choose(SQLite::Database& db, const char* selected, std::int64_t before_unix_ms,
                    std::int64_t most) {
  db.exec("CREATE TEMP TABLE IF NOT EXISTS going (name TEXT PRIMARY KEY)");
  db.exec("DELETE FROM temp.going");
  SQLite::Statement insert(db, "INSERT INTO temp.going " + std::string(selected) + " LIMIT ?2");
  bind_all(insert, before_unix_ms, most);
  return insert.exec();
}

constexpr const char* kJobsGo = " WHERE job IN (SELECT name FROM temp.going)";
constexpr const char* kRunsGo = " WHERE run IN (SELECT name FROM temp.going)";

std::int64_t sum_of(SQLite::Database& db, const std::string& table, const std::string& column) {
  return db
      .execAndGet("SELECT ifnull(sum(length(CAST(" + column + " AS BLOB))), 0) FROM " + table +
                  kJobsGo)
      .getInt64();
}

std::int64_t bytes_of_chosen_jobs(SQLite::Database& db) {
  return sum_of(db, "submissions", "source") + sum_of(db, "verdicts", "document") +
         sum_of(db, "artifacts", "bytes");
}

constexpr std::int64_t kAll = -1;  // the value of LIMIT that limits nothing

}  // namespace

RemovedJobs count_old_jobs(SQLite::Database& db, std::int64_t before_unix_ms) {
  RemovedJobs old;
  old.jobs = choose(db, kOldJobs, before_unix_ms, kAll);
  old.bytes = bytes_of_chosen_jobs(db);
  old.runs = choose(db, kOldRuns, before_unix_ms, kAll);
  return old;
}

RemovedJobs remove_old_jobs(SQLite::Database& db, std::int64_t before_unix_ms, std::int64_t most) {
  RemovedJobs removed;
  removed.jobs = choose(db, kOldJobs, before_unix_ms, most);
  if (removed.jobs > 0) {
    removed.bytes = bytes_of_chosen_jobs(db);
    // A row must go before the row that it refers to.
    db.exec(std::string("DELETE FROM artifact_sizes WHERE artifact IN "
                        "(SELECT artifact FROM artifacts") +
            kJobsGo + ")");
    for (const char* table : {"artifacts", "verdicts", "tool_calls", "submissions"})
      db.exec("DELETE FROM " + std::string(table) + kJobsGo);
  }
  if (choose(db, kOldRuns, before_unix_ms, most) == 0) return removed;
  // A run can still have jobs here, because this call removes only some of the old jobs.
  db.exec("DELETE FROM temp.going WHERE name IN (SELECT run FROM submissions)");
  for (const char* table : {"usage", "tool_calls", "ended_runs"})
    db.exec("DELETE FROM " + std::string(table) + kRunsGo);
  removed.runs = db.exec(std::string("DELETE FROM runs") + kRunsGo);
  return removed;
}

}  // namespace assay::server
