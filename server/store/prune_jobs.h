// Removes old practice jobs from a store, with their sources, verdicts and artifacts, and old runs
// of the track `practice`. prune_store() in maintenance.h and Store::accept() use these functions.
// A thread may call them only while no other thread uses the connection.
//
//   SQLite::Transaction transaction(db, SQLite::TransactionBehavior::IMMEDIATE);
//   const RemovedJobs removed = remove_old_jobs(db, before_unix_ms, 500);
//   transaction.commit();
//
// Scored runs and their jobs are never removed, because reports count them. Unfinished jobs are
// never removed either. The functions throw SQLite::Exception.
#pragma once

#include <SQLiteCpp/Database.h>

#include <cstdint>

#include "sandbox/job/job.h"
#include "server/store/statements.h"
#include "server/store/store_limits.h"

namespace assay::server {

struct RemovedJobs {
  std::int64_t jobs = 0;
  std::int64_t runs = 0;   // runs of the track `practice` that were over and have no job left
  std::int64_t bytes = 0;  // of sources, verdicts and artifacts
};

/// Counts what remove_old_jobs() would remove in all. Does not write.
RemovedJobs count_old_jobs(SQLite::Database& db, std::int64_t before_unix_ms);

/// Removes at most `most` practice jobs that ended before the given time, and at most `most` runs.
/// Returns what was removed. If nothing was removed, nothing is left to remove.
RemovedJobs remove_old_jobs(SQLite::Database& db, std::int64_t before_unix_ms, std::int64_t most);

/// Returns true if the job's caller may store a job of `bytes` bytes. If the job is practice, first
/// removes the caller's oldest finished practice jobs, until there is room for the job.
bool make_room_for_job(SQLite::Database& db, Statements& statements, const sandbox::Job& job,
                       std::int64_t bytes, const JobLimits& limits);

}  // namespace assay::server
