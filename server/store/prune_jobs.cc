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

constexpr const char* kMakeGoing = "CREATE TEMP TABLE IF NOT EXISTS going (name TEXT PRIMARY KEY)";

/// Puts the names of the selected jobs or runs into the temporary table `going`, and returns how
/// many they are. A read-only connection can do so too.
std::int64_t choose(SQLite::Database& db, const char* selected, std::int64_t before_unix_ms,
                    std::int64_t most) {
  db.exec(kMakeGoing);
  db.exec("DELETE FROM temp.going");
  SQLite::Statement insert(db, "INSERT INTO temp.going " + std::string(selected) + " LIMIT ?2");
  bind_all(insert, before_unix_ms, most);
  return insert.exec();
}

constexpr const char* kJobsGo = " WHERE job IN (SELECT name FROM temp.going)";
constexpr const char* kRunsGo = " WHERE run IN (SELECT name FROM temp.going)";

std::int64_t bytes_of_chosen_jobs(SQLite::Database& db) {
  return bytes_of_column(db, "submissions", "source", kJobsGo) +
         bytes_of_column(db, "verdicts", "document", kJobsGo) +
         bytes_of_column(db, "artifacts", "bytes", kJobsGo);
}

constexpr std::int64_t kAll = -1;  // the value of LIMIT that limits nothing

/// Removes the chosen jobs. A row must go before the row that it refers to.
void remove_chosen_jobs(SQLite::Database& db) {
  db.exec(std::string("DELETE FROM artifact_sizes WHERE artifact IN "
                      "(SELECT artifact FROM artifacts") +
          kJobsGo + ")");
  for (const char* table : {"artifacts", "verdicts", "tool_calls", "submissions"})
    db.exec("DELETE FROM " + std::string(table) + kJobsGo);
}

/// What the jobs of one caller store.
struct CallerUse {
  bool scored = false;  // true: the jobs of scored runs; false: practice
  std::int64_t bytes = 0;
};

/// Returns what the caller's jobs store that are of the same sort as `job`.
CallerUse use_of(SQLite::Database& db, Statements& statements, const sandbox::Job& job) {
  const auto query = statements.prepared(
      db,
      "SELECT r.scored, (SELECT size_bytes FROM caller_sizes c WHERE c.caller = ? AND "
      "c.scored = r.scored) FROM "
      "(SELECT count(*) AS scored FROM runs WHERE run = ? AND track <> 'practice') r");
  bind_all(*query, job.caller, job.run);
  query->executeStep();
  return {query->getColumn(0).getInt64() != 0, query->getColumn(1).getInt64()};  // NULL is 0
}

/// Chooses the caller's oldest finished practice jobs, until they have at least `bytes` bytes.
/// Returns how many jobs that are.
std::int64_t choose_oldest(SQLite::Database& db, const std::string& caller, std::int64_t bytes) {
  db.exec(kMakeGoing);
  db.exec("DELETE FROM temp.going");
  SQLite::Statement query(
      db,
      "SELECT s.job, length(CAST(s.source AS BLOB)) + length(CAST(s.request AS BLOB)) "
      "+ length(CAST(v.document AS BLOB)) FROM submissions s JOIN verdicts v ON v.job = s.job "
      "LEFT JOIN runs r ON r.run = s.run WHERE s.caller = ? AND s.finished_unix_ms IS NOT NULL "
      "AND (s.run = '' OR r.track = 'practice') ORDER BY s.queued_unix_ms, s.rowid");
  bind_all(query, caller);
  std::int64_t chosen = 0;
  for (; bytes > 0 && query.executeStep(); ++chosen) {
    SQLite::Statement insert(db, "INSERT INTO temp.going VALUES (?)");
    bind_all(insert, query.getColumn(0).getString());
    insert.exec();
    bytes -= query.getColumn(1).getInt64();
  }
  return chosen;
}

}  // namespace

bool make_room_for_job(SQLite::Database& db, Statements& statements, const sandbox::Job& job,
                       std::int64_t bytes, const JobLimits& limits) {
  const CallerUse use = use_of(db, statements, job);
  if (use.scored) return use.bytes + bytes <= limits.scored_bytes;
  const std::int64_t missing = use.bytes + bytes - limits.practice_bytes;
  if (missing <= 0) return true;
  if (choose_oldest(db, job.caller, missing) == 0) return false;
  remove_chosen_jobs(db);
  return use_of(db, statements, job).bytes + bytes <= limits.practice_bytes;
}

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
    remove_chosen_jobs(db);
  }
  if (choose(db, kOldRuns, before_unix_ms, most) == 0) return removed;
  // A run can still have jobs here, because this call removes only some of the old jobs.
  db.exec("DELETE FROM temp.going WHERE name IN (SELECT run FROM submissions)");
  for (const char* table : {"usage", "tool_calls", "ended_runs", "transcripts", "imported_runs"})
    db.exec("DELETE FROM " + std::string(table) + kRunsGo);
  removed.runs = db.exec(std::string("DELETE FROM runs") + kRunsGo);
  return removed;
}

}  // namespace assay::server
