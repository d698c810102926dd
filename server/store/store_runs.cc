// Implements the functions of Store for runs: charged tool calls, usage, graded submissions.
#include <cstdint>

#include "base/json.h"
#include "base/result.h"
#include "base/text.h"
#include "server/store/connection.h"
#include "server/store/store.h"

namespace assay::server {
namespace {

constexpr const char* kRunColumns =
    "SELECT run, agent, model, track, suite, operators, compiles, tests, profiles, submissions, "
    "run_wall_s, created_unix_ms, expires_unix_ms, suite_name, suite_version, suite_digest FROM "
    "runs";

/// The most calls of a run that are counted, and its newest jobs among which is the last one to
/// end.
constexpr std::int64_t kCountedCalls = 10'000;
constexpr std::int64_t kNewestJobs = 100;

Result<tools::RunInfo> run_of(SQLite::Statement& row) {
  tools::RunInfo run;
  run.handle = row.getColumn(0).getString();
  run.request.agent = row.getColumn(1).getString();
  run.request.model = row.getColumn(2).getString();
  const auto track = tools::track_from(row.getColumn(3).getString());
  if (!track) return fail(ErrorCode::corrupt, "run " + run.handle + " has an unknown track");
  run.request.track = *track;
  run.request.suite = row.getColumn(4).getString();
  run.operators = split(row.getColumn(5).getString(), ",");
  run.budgets = {.compiles = row.getColumn(6).getInt64(),
                 .tests = row.getColumn(7).getInt64(),
                 .profiles = row.getColumn(8).getInt64(),
                 .submissions = row.getColumn(9).getInt64(),
                 .run_wall_s = row.getColumn(10).getInt64()};
  run.created_unix_ms = row.getColumn(11).getInt64();
  run.expires_unix_ms = row.getColumn(12).getInt64();
  run.suite_id = {row.getColumn(13).getString(), row.getColumn(14).getString(),
                  row.getColumn(15).getString()};
  return run;
}

}  // namespace

void insert_run_row(SQLite::Database& db, const tools::RunInfo& run, const std::string& principal) {
  SQLite::Statement insert(
      db, "INSERT INTO runs VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,nullif(?, ''))");
  bind_all(insert, run.handle, run.request.agent, run.request.model,
           std::string(tools::to_string(run.request.track)), run.request.suite,
           join(run.operators, ","), run.budgets.compiles, run.budgets.tests, run.budgets.profiles,
           run.budgets.submissions, run.budgets.run_wall_s, run.created_unix_ms,
           run.expires_unix_ms, principal, run.suite_id.name, run.suite_id.version,
           run.suite_id.digest, run.request.call_id);
  insert.exec();
}

namespace {

/// Returns the run that a call with this id started, unless the run is over.
Result<std::optional<tools::RunInfo>> run_of_call(SQLite::Database& db,
                                                  const std::string& principal,
                                                  const std::string& call_id,
                                                  std::int64_t now_unix_ms) {
  SQLite::Statement earlier(db, std::string(kRunColumns) +
                                    " WHERE principal = ? AND call_id = ? AND "
                                    "expires_unix_ms > ? AND run NOT IN "
                                    "(SELECT run FROM ended_runs)");
  bind_all(earlier, principal, call_id, now_unix_ms);
  if (!earlier.executeStep()) return std::optional<tools::RunInfo>();
  ASSAY_TRY(run, run_of(earlier));
  return std::optional<tools::RunInfo>(std::move(run));
}

}  // namespace

Result<std::optional<tools::RunInfo>> Store::run_of_repeat(const std::string& principal,
                                                           const std::string& call_id,
                                                           std::int64_t now_unix_ms) {
  return connection_->with(
      [&](SQLite::Database& db) { return run_of_call(db, principal, call_id, now_unix_ms); });
}

Result<tools::RunInfo> Store::insert_run(const tools::RunInfo& run, const std::string& principal) {
  return connection_->write([&](SQLite::Database& db) -> Result<tools::RunInfo> {
    if (!run.request.call_id.empty()) {
      ASSAY_TRY(earlier, run_of_call(db, principal, run.request.call_id, run.created_unix_ms));
      if (earlier) return std::move(*earlier);
      SQLite::Statement free(db,
                             "UPDATE runs SET call_id = NULL WHERE principal = ? AND call_id = ?");
      bind_all(free, principal, run.request.call_id);
      free.exec();
    }
    insert_run_row(db, run, principal);
    return run;
  });
}

Result<tools::RunInfo> Store::run(const std::string& handle,
                                  const std::optional<std::string>& principal) {
  return connection_->with([&](SQLite::Database& db) -> Result<tools::RunInfo> {
    SQLite::Statement query(
        db, std::string(kRunColumns) + " WHERE run = ?" + (principal ? " AND principal = ?" : ""));
    query.bind(1, handle);
    if (principal) query.bind(2, *principal);
    if (!query.executeStep())
      return fail(ErrorCode::not_found,
                  "unknown run; `start_run` returns a handle that looks like run_...");
    return run_of(query);
  });
}

Result<std::vector<tools::RunInfo>> Store::runs() {
  return connection_->with([&](SQLite::Database& db) -> Result<std::vector<tools::RunInfo>> {
    SQLite::Statement query(
        db, std::string(kRunColumns) + " ORDER BY created_unix_ms DESC, rowid DESC");
    std::vector<tools::RunInfo> runs;
    while (query.executeStep()) {
      ASSAY_TRY(run, run_of(query));
      runs.push_back(std::move(run));
    }
    return runs;
  });
}

Result<std::vector<tools::RunInfo>> Store::runs_of(const std::string& principal) {
  return connection_->with([&](SQLite::Database& db) -> Result<std::vector<tools::RunInfo>> {
    SQLite::Statement query(db, std::string(kRunColumns) +
                                    " WHERE principal = ? ORDER BY created_unix_ms DESC, rowid "
                                    "DESC");
    query.bind(1, principal);
    std::vector<tools::RunInfo> runs;
    while (query.executeStep()) {
      ASSAY_TRY(run, run_of(query));
      runs.push_back(std::move(run));
    }
    return runs;
  });
}

Result<std::vector<RunProgress>> Store::progress_of_runs(const std::string& principal,
                                                         std::int64_t most_runs) {
  return connection_->with([&](SQLite::Database& db) -> Result<std::vector<RunProgress>> {
    SQLite::Statement query(
        db, std::string(kRunColumns) +
                " WHERE principal = ? ORDER BY created_unix_ms DESC, rowid DESC LIMIT ?");
    query.bind(1, principal);
    query.bind(2, most_runs);
    std::vector<RunProgress> found;
    while (query.executeStep()) {
      ASSAY_TRY(run, run_of(query));
      found.push_back({.run = std::move(run)});
    }
    // The indexes submissions_graded and submissions_by_time bound the rows that are read: one for
    // each graded submission, and kNewestJobs and kCountedCalls for the other figures.
    SQLite::Statement counts(
        db,
        "SELECT (SELECT count(*) FROM (SELECT 1 FROM submissions WHERE run = ?1 LIMIT ?2)), "
        "count(DISTINCT s.operator), count(DISTINCT CASE WHEN v.outcome = 'pass' THEN s.operator "
        "END), (SELECT coalesce(max(max(queued_unix_ms, coalesce(finished_unix_ms, 0))), 0) FROM "
        "(SELECT queued_unix_ms, finished_unix_ms FROM submissions WHERE run = ?1 "
        "ORDER BY queued_unix_ms DESC LIMIT ?3)) "
        "FROM submissions s JOIN verdicts v ON v.job = s.job WHERE s.run = ?1 AND s.kind = "
        "'grade'");
    counts.bind(2, kCountedCalls);
    counts.bind(3, kNewestJobs);
    for (RunProgress& one : found) {
      counts.reset();
      counts.bind(1, one.run.handle);
      counts.executeStep();
      one.calls = counts.getColumn(0).getInt64();
      one.submitted = counts.getColumn(1).getInt64();
      one.passed = counts.getColumn(2).getInt64();
      one.last_unix_ms = counts.getColumn(3).getInt64();
    }
    return found;
  });
}

Result<std::string> Store::revision_of(const std::string& principal) {
  return connection_->with([&](SQLite::Database& db) -> Result<std::string> {
    if (db.tableExists("revisions")) {
      SQLite::Statement number(db, "SELECT number FROM revisions WHERE principal = ?");
      number.bind(1, principal);
      return std::to_string(number.executeStep() ? number.getColumn(0).getInt64() : 0);
    }
    // A store of an older version, which cannot be written and so was not migrated.
    SQLite::Statement query(
        db,
        "SELECT (SELECT count(*) FROM runs WHERE principal = ?1) || '.' || "
        "(SELECT count(*) FROM submissions WHERE caller = ?1) || '.' || "
        "(SELECT count(*) FROM submissions WHERE caller = ?1 AND finished_unix_ms IS NULL) || '.' "
        "|| (SELECT coalesce(max(u.id), 0) FROM usage u JOIN runs r ON r.run = u.run WHERE "
        "r.principal = ?1)");
    query.bind(1, principal);
    query.executeStep();
    return query.getColumn(0).getString();
  });
}

Status Store::end_run(const std::string& run, std::int64_t now_unix_ms) {
  return connection_->write([&](SQLite::Database& db) -> Status {
    SQLite::Statement insert(db, "INSERT OR IGNORE INTO ended_runs VALUES (?,?)");
    bind_all(insert, run, now_unix_ms);
    insert.exec();
    return {};
  });
}

Result<bool> Store::has_ended(const std::string& run) {
  return connection_->with([&](SQLite::Database& db) -> Result<bool> {
    if (!db.tableExists("ended_runs")) return false;  // an older store, opened for reading
    SQLite::Statement query(db, "SELECT 1 FROM ended_runs WHERE run = ?");
    query.bind(1, run);
    return query.executeStep();
  });
}

Status Store::add_usage(const std::string& run, const tools::Usage& usage,
                        std::int64_t now_unix_ms) {
  return connection_->write([&](SQLite::Database& db) -> Status {
    SQLite::Statement insert(db,
                             "INSERT INTO usage (run, input_tokens, output_tokens, cost_usd, "
                             "at_unix_ms, cost_known, call_id) VALUES (?,?,?,?,?,?,?) "
                             "ON CONFLICT (run, call_id) DO NOTHING");
    const bool cost_known = usage.cost_known || usage.cost_usd > 0;
    bind_all(insert, run, usage.input_tokens, usage.output_tokens, usage.cost_usd, now_unix_ms,
             std::int64_t{cost_known});
    if (!usage.call_id.empty()) insert.bind(7, usage.call_id);  // else NULL
    insert.exec();
    return {};
  });
}

Result<tools::Usage> Store::usage(const std::string& run) {
  return connection_->with([&](SQLite::Database& db) -> Result<tools::Usage> {
    SQLite::Statement query(db,
                            "SELECT coalesce(sum(input_tokens),0), coalesce(sum(output_tokens),0), "
                            "total(cost_usd), coalesce(min(cost_known),0) FROM usage "
                            "WHERE run = ?");
    bind_all(query, run);
    query.executeStep();
    return tools::Usage{.input_tokens = query.getColumn(0).getInt64(),
                        .output_tokens = query.getColumn(1).getInt64(),
                        .cost_usd = query.getColumn(2).getDouble(),
                        .cost_known = query.getColumn(3).getInt() != 0};
  });
}

Result<std::map<std::string, std::int64_t>> Store::tool_calls(const std::string& run) {
  return connection_->with(
      [&](SQLite::Database& db) -> Result<std::map<std::string, std::int64_t>> {
        SQLite::Statement query(db,
                                "SELECT operator, count(*) FROM tool_calls WHERE run = ? AND "
                                "refunded = 0 GROUP BY operator");
        bind_all(query, run);
        std::map<std::string, std::int64_t> calls;
        while (query.executeStep())
          calls[query.getColumn(0).getString()] = query.getColumn(1).getInt64();
        return calls;
      });
}

Result<std::map<std::string, std::int64_t>> Store::calls_by_kind(const std::string& run,
                                                                 const std::string& operator_name) {
  return connection_->with(
      [&](SQLite::Database& db) -> Result<std::map<std::string, std::int64_t>> {
        SQLite::Statement query(db,
                                "SELECT kind, count(*) FROM tool_calls WHERE run = ? AND operator "
                                "= ? AND refunded = 0 GROUP BY kind");
        bind_all(query, run, operator_name);
        std::map<std::string, std::int64_t> calls;
        while (query.executeStep())
          calls[query.getColumn(0).getString()] = query.getColumn(1).getInt64();
        return calls;
      });
}

Result<std::vector<GradedJob>> Store::graded(const std::string& run) {
  return connection_->with([&](SQLite::Database& db) -> Result<std::vector<GradedJob>> {
    SQLite::Statement query(db,
                            "SELECT s.operator, s.job, v.document FROM submissions s LEFT JOIN "
                            "verdicts v ON v.job = s.job "
                            "WHERE s.run = ? AND s.kind = 'grade' ORDER BY s.rowid");
    bind_all(query, run);
    std::vector<GradedJob> jobs;
    while (query.executeStep()) {
      GradedJob job{.operator_name = query.getColumn(0).getString(),
                    .job = query.getColumn(1).getString(),
                    .verdict = std::nullopt};
      if (!query.getColumn(2).isNull()) {
        ASSAY_TRY(verdict, verdict_of(query.getColumn(2).getString(), job.job));
        job.verdict = std::move(verdict);
      }
      jobs.push_back(std::move(job));
    }
    return jobs;
  });
}

Result<std::map<std::string, std::vector<tools::JudgedCall>>> Store::judged_calls(
    const std::string& run) {
  return connection_->with([&](SQLite::Database& db)
                               -> Result<std::map<std::string, std::vector<tools::JudgedCall>>> {
    SQLite::Statement query(
        db,
        "SELECT s.operator, s.job, s.kind, v.outcome, v.error_kind, json_extract(v.document, "
        "'$.stage') FROM submissions s "
        "JOIN verdicts v ON v.job = s.job WHERE s.run = ? AND s.kind <> 'grade' ORDER BY s.rowid");
    bind_all(query, run);
    std::map<std::string, std::vector<tools::JudgedCall>> calls;
    while (query.executeStep()) {
      const auto kind = sandbox::job_kind_from(query.getColumn(2).getString());
      const auto outcome = sandbox::outcome_from(query.getColumn(3).getString());
      const auto error_kind = sandbox::error_kind_from(query.getColumn(4).getString());
      const auto stage = sandbox::stage_from(query.getColumn(5).getString());
      if (!kind || !outcome || !error_kind || !stage)
        return fail(ErrorCode::corrupt, "the verdict of " + query.getColumn(1).getString() +
                                            " has an unknown kind, outcome, error kind or stage");
      calls[query.getColumn(0).getString()].push_back({*kind, *outcome, *error_kind, *stage});
    }
    return calls;
  });
}

}  // namespace assay::server
