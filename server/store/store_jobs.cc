// Implements the functions of Store for jobs, except accept() and accept_all().
#include <cstdint>
#include <utility>

#include "base/handle.h"
#include "base/json.h"
#include "base/result.h"
#include "base/text.h"
#include "server/store/artifact_quota.h"
#include "server/store/connection.h"
#include "server/store/store.h"
#include "tools/json/verdict_json.h"

namespace assay::server {
namespace {

using nlohmann::json;

std::optional<sandbox::Job> request_of(const std::string& request, std::string source) {
  json document = json::parse(request, nullptr, false);
  if (!document.is_object()) return std::nullopt;
  document["source"] = std::move(source);
  auto job = tools::job_from_json(document);
  return job ? std::optional(std::move(*job)) : std::nullopt;
}

std::optional<tools::JobState> over_state_from(const std::string& text) {
  for (const auto state :
       {tools::JobState::finished, tools::JobState::cancelled, tools::JobState::aborted}) {
    if (tools::to_string(state) == text) return state;
  }
  return std::nullopt;
}

void give_back_charge(SQLite::Database& db, Statements& statements, const std::string& job) {
  const auto back = statements.prepared(db, "UPDATE tool_calls SET refunded = 1 WHERE job = ?");
  bind_all(*back, job);
  back->exec();
}

/// The error for a handle that is wrong, or whose job belongs to another principal.
tl::unexpected<Error> unknown_job() {
  return fail(ErrorCode::not_found,
              "unknown job; handles look like job_... and are in the answers of `compile`, "
              "`run_tests`, `profile` and `submit`");
}

/// A judged job whose verdict is written.
struct Judgement {
  JudgedJob* job = nullptr;
  std::vector<sandbox::Artifact> artifacts;
  std::string document;  // the verdict, as long as it has no list of dropped artifacts

  void drop_artifacts() {
    job->verdict.artifacts_dropped.clear();
    for (const sandbox::Artifact& artifact : std::exchange(artifacts, {}))
      job->verdict.artifacts_dropped.push_back(
          dropped_artifact(artifact, sandbox::DropReason::not_written));
    document = json_text(tools::verdict_to_json(job->verdict));
  }
};

Status insert_judgement(SQLite::Database& db, Statements& statements, Judgement& judgement,
                        const ArtifactLimits& limits, std::int64_t now_unix_ms) {
  const std::string& job = judgement.job->job;
  sandbox::Verdict& verdict = judgement.job->verdict;
  const auto update = statements.prepared(
      db,
      "UPDATE submissions SET state = ?, finished_unix_ms = ? WHERE job = ? AND finished_unix_ms "
      "IS NULL");
  bind_all(*update, std::string(tools::to_string(judgement.job->state)), now_unix_ms, job);
  if (update->exec() != 1)
    return fail(ErrorCode::internal,
                "job " + job + " is not in the store, or has a verdict already");
  if (!judgement.artifacts.empty()) {
    verdict.artifacts_dropped = keep_artifacts(db, job, judgement.artifacts, limits, now_unix_ms);
    judgement.document = json_text(tools::verdict_to_json(verdict));
  }
  const auto insert = statements.prepared(db, "INSERT INTO verdicts VALUES (?,?,?,?,?,?,?)");
  bind_all(*insert, job, std::string(sandbox::to_string(verdict.outcome)),
           std::string(sandbox::to_string(verdict.error_kind)),
           std::string(sandbox::to_string(verdict.tier)), verdict.perf, judgement.document,
           now_unix_ms);
  insert->exec();
  if (judgement.job->refund) give_back_charge(db, statements, job);
  return {};
}

constexpr const char* kStoredJobColumns =
    "SELECT s.job, s.run, s.operator, s.kind, s.device, s.state, s.source, s.source_sha256, "
    "s.queued_unix_ms, s.finished_unix_ms, v.document FROM submissions s LEFT JOIN verdicts v ON "
    "v.job = s.job ";

/// Reads a row of kStoredJobColumns.
Result<StoredJob> stored_job_of(SQLite::Statement& query) {
  StoredJob found{.job = query.getColumn(0).getString(),
                  .run = query.getColumn(1).getString(),
                  .operator_name = query.getColumn(2).getString(),
                  .kind = query.getColumn(3).getString(),
                  .device = query.getColumn(4).getString(),
                  .state = query.getColumn(5).getString(),
                  .source = query.getColumn(6).getString(),
                  .source_sha256 = query.getColumn(7).getString(),
                  .queued_unix_ms = query.getColumn(8).getInt64(),
                  .finished_unix_ms = {},
                  .verdict = {}};
  if (!query.getColumn(9).isNull()) found.finished_unix_ms = query.getColumn(9).getInt64();
  if (query.getColumn(10).isNull()) return found;
  ASSAY_TRY(verdict, verdict_of(query.getColumn(10).getString(), found.job));
  found.verdict = std::move(verdict);
  return found;
}

}  // namespace

Result<sandbox::Verdict> verdict_of(const std::string& document, const std::string& job) {
  const json parsed = json::parse(document, nullptr, false);
  auto verdict = tools::verdict_from_json(parsed);
  if (!verdict)
    return fail(ErrorCode::corrupt,
                "the stored verdict of " + job + " cannot be read: " + verdict.error().message);
  return verdict;
}

Result<sandbox::Verdict> Store::finish(const std::string& job, tools::JobState state,
                                       sandbox::Verdict verdict, bool refund,
                                       std::int64_t now_unix_ms) {
  std::vector<JudgedJob> one;
  one.push_back({job, state, std::move(verdict), refund});
  return std::move(finish_all(std::move(one), now_unix_ms).front());
}

std::vector<Result<sandbox::Verdict>> Store::finish_all(std::vector<JudgedJob> jobs,
                                                        std::int64_t now_unix_ms) {
  std::vector<Judgement> offered;
  for (JudgedJob& job : jobs) {
    std::vector<sandbox::Artifact> artifacts = std::exchange(job.verdict.artifacts, {});
    offered.push_back({&job, std::move(artifacts), json_text(tools::verdict_to_json(job.verdict))});
  }
  const auto write = [&](std::vector<Judgement*> chosen) {
    return connection_->write_all_durably(
        chosen.size(), [&](std::size_t i, SQLite::Database& db) -> Status {
          return insert_judgement(db, connection_->statements, *chosen[i], limits_.artifacts,
                                  now_unix_ms);
        });
  };
  std::vector<Judgement*> all;
  for (Judgement& one : offered) all.push_back(&one);
  std::vector<Status> stored = write(all);
  // If a write with artifacts failed, the disk may be full. A verdict is small, so it may still fit
  // without the artifacts.
  std::vector<Judgement*> again;
  std::vector<std::size_t> places;
  for (std::size_t i = 0; i < offered.size(); ++i) {
    if (stored[i] || offered[i].artifacts.empty()) continue;
    offered[i].drop_artifacts();
    again.push_back(&offered[i]);
    places.push_back(i);
  }
  const std::vector<Status> second = write(again);
  for (std::size_t n = 0; n < places.size(); ++n) stored[places[n]] = second[n];
  std::vector<Result<sandbox::Verdict>> verdicts;
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    if (stored[i])
      verdicts.emplace_back(std::move(jobs[i].verdict));
    else
      verdicts.emplace_back(fail(stored[i].error()));
  }
  return verdicts;
}

Result<std::optional<FinishedJob>> Store::finished_job(const std::string& job,
                                                       const std::string& principal) {
  return connection_->with([&](SQLite::Database& db) -> Result<std::optional<FinishedJob>> {
    const auto query = connection_->statements.prepared(
        db,
        "SELECT s.state, v.document, s.finished_unix_ms - s.queued_unix_ms, s.run FROM submissions "
        "s LEFT JOIN verdicts v ON v.job = s.job WHERE s.job = ? AND s.caller = ?");
    bind_all(*query, job, principal);
    if (!query->executeStep()) return unknown_job();
    if (query->getColumn(1).isNull()) return std::optional<FinishedJob>();
    const auto state = over_state_from(query->getColumn(0).getString());
    if (!state)
      return fail(ErrorCode::corrupt, "job " + job + " has a verdict and an unknown state");
    ASSAY_TRY(verdict, verdict_of(query->getColumn(1).getString(), job));
    return std::optional(FinishedJob{.run = query->getColumn(3).getString(),
                                     .state = *state,
                                     .verdict = std::move(verdict),
                                     .elapsed_ms = query->getColumn(2).getInt64()});
  });
}

Result<std::string> Store::source(const std::string& job) {
  return connection_->with([&](SQLite::Database& db) -> Result<std::string> {
    SQLite::Statement query(db, "SELECT source FROM submissions WHERE job = ?");
    bind_all(query, job);
    if (!query.executeStep()) return fail(ErrorCode::not_found, "unknown job '" + job + "'");
    return query.getColumn(0).getString();
  });
}

Result<tools::JobSource> Store::source_of(const std::string& job, const std::string& principal) {
  return connection_->with([&](SQLite::Database& db) -> Result<tools::JobSource> {
    SQLite::Statement query(db,
                            "SELECT source, request FROM submissions WHERE job = ? AND caller = ?");
    bind_all(query, job, principal);
    if (!query.executeStep()) return unknown_job();
    const auto request = request_of(query.getColumn(1).getString(), query.getColumn(0).getString());
    if (!request) return fail(ErrorCode::corrupt, "the stored job " + job + " cannot be read");
    return tools::JobSource{.text = request->source, .language = request->language};
  });
}

Result<StoredJob> Store::stored_job(const std::string& job) {
  return connection_->with([&](SQLite::Database& db) -> Result<StoredJob> {
    SQLite::Statement query(db, std::string(kStoredJobColumns) + "WHERE s.job = ?");
    bind_all(query, job);
    if (!query.executeStep()) return fail(ErrorCode::not_found, "unknown job '" + job + "'");
    return stored_job_of(query);
  });
}

Result<std::vector<StoredJob>> Store::stored_jobs(const std::string& run,
                                                  const std::string& operator_name,
                                                  std::int64_t most) {
  return connection_->with([&](SQLite::Database& db) -> Result<std::vector<StoredJob>> {
    SQLite::Statement query(db, std::string(kStoredJobColumns) +
                                    "WHERE s.run = ? AND s.operator = ? ORDER BY s.rowid DESC "
                                    "LIMIT ?");  // a negative limit is none
    bind_all(query, run, operator_name, most);
    std::vector<StoredJob> jobs;
    while (query.executeStep()) {
      ASSAY_TRY(job, stored_job_of(query));
      jobs.push_back(std::move(job));
    }
    std::reverse(jobs.begin(), jobs.end());
    return jobs;
  });
}

Result<std::vector<std::string>> Store::device_names(const std::string& run) {
  return connection_->with([&](SQLite::Database& db) -> Result<std::vector<std::string>> {
    SQLite::Statement query(
        db,
        "SELECT DISTINCT coalesce(nullif(json_extract(v.document, '$.provenance.device_name'), "
        "''), s.device) FROM submissions s JOIN verdicts v ON v.job = s.job "
        "WHERE s.run = ?1 AND (s.kind = 'grade' OR NOT EXISTS (SELECT 1 FROM submissions g JOIN "
        "verdicts w ON w.job = g.job WHERE g.run = ?1 AND g.kind = 'grade')) ORDER BY 1");
    bind_all(query, run);
    std::vector<std::string> names;
    while (query.executeStep()) names.push_back(query.getColumn(0).getString());
    return names;
  });
}

Result<std::vector<UnfinishedJob>> Store::unfinished_jobs() {
  return connection_->with([&](SQLite::Database& db) -> Result<std::vector<UnfinishedJob>> {
    SQLite::Statement query(db,
                            "SELECT job, run, device, operator, kind, request, source, attempts, "
                            "caller "
                            "FROM submissions WHERE finished_unix_ms IS NULL "
                            "ORDER BY queued_unix_ms, rowid");
    std::vector<UnfinishedJob> jobs;
    while (query.executeStep()) {
      UnfinishedJob job;
      job.job = query.getColumn(0).getString();
      job.run = query.getColumn(1).getString();
      job.device = query.getColumn(2).getString();
      job.operator_name = query.getColumn(3).getString();
      const auto kind = sandbox::job_kind_from(query.getColumn(4).getString());
      if (kind) {
        job.kind = *kind;
        job.request = request_of(query.getColumn(5).getString(), query.getColumn(6).getString());
      }
      job.attempts = query.getColumn(7).getInt64();
      job.principal = query.getColumn(8).getString();
      jobs.push_back(std::move(job));
    }
    return jobs;
  });
}

Status Store::begin_again(const std::string& job, bool refund) {
  return connection_->write([&](SQLite::Database& db) -> Status {
    SQLite::Statement update(db, "UPDATE submissions SET attempts = attempts + 1 WHERE job = ?");
    bind_all(update, job);
    update.exec();
    if (refund) give_back_charge(db, connection_->statements, job);
    return {};
  });
}

}  // namespace assay::server
