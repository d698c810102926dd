// Implements the functions of Store for what others add to runs: the transcripts of attempts, and
// where imported verdicts are from.
#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/handle.h"
#include "base/json.h"
#include "base/result.h"
#include "base/text.h"
#include "server/store/connection.h"
#include "server/store/store.h"
#include "tools/json/verdict_json.h"

namespace assay::server {
namespace {

/// Returns a text of the run, or nothing. A store of an older version, which is read without a
/// migration, has no such tables.
Result<std::optional<std::string>> text_of_run(SQLite::Database& db, const std::string& table,
                                               const std::string& sql,
                                               const std::vector<std::string>& values) {
  if (!db.tableExists(table)) return std::optional<std::string>();
  SQLite::Statement query(db, sql);
  for (std::size_t i = 0; i < values.size(); ++i) query.bind(static_cast<int>(i) + 1, values[i]);
  if (!query.executeStep()) return std::optional<std::string>();
  return std::optional(query.getColumn(0).getString());
}

Status must_have_run(SQLite::Database& db, const std::string& run) {
  SQLite::Statement query(db, "SELECT 1 FROM runs WHERE run = ?");
  bind_all(query, run);
  if (query.executeStep()) return {};
  return fail(ErrorCode::not_found, "the store has no run " + run);
}

/// Inserts the rows of a job that has a verdict. There was no tool call.
void insert_judged(SQLite::Database& db, const ImportedRun::Judged& judged, std::int64_t unix_ms) {
  const sandbox::Job& job = judged.job;
  const sandbox::Verdict& verdict = judged.verdict;
  nlohmann::json request = tools::job_to_json(job);
  request.erase("source");
  const std::string kind(sandbox::to_string(job.kind));
  const std::string sha256 = sha256_hex(job.source);
  SQLite::Statement submission(db, "INSERT INTO submissions VALUES (?,?,?,?,?,?,?,?,?,0,?,?,'')");
  bind_all(submission, job.id, job.run, job.operator_name, kind, judged.device,
           std::string(tools::to_string(tools::JobState::finished)), job.source, sha256,
           json_text(request), unix_ms, unix_ms);
  submission.exec();
  SQLite::Statement stored(db, "INSERT INTO verdicts VALUES (?,?,?,?,?,?,?)");
  bind_all(stored, job.id, std::string(sandbox::to_string(verdict.outcome)),
           std::string(sandbox::to_string(verdict.error_kind)),
           std::string(sandbox::to_string(verdict.tier)), verdict.perf,
           json_text(tools::verdict_to_json(verdict)), unix_ms);
  stored.exec();
}

/// Returns the agents and models of the runs that were imported from the file.
std::set<std::pair<std::string, std::string>> imported_from(SQLite::Database& db,
                                                            const std::string& file_sha256) {
  std::set<std::pair<std::string, std::string>> found;
  SQLite::Statement query(db,
                          "SELECT r.agent, r.model FROM imported_runs i JOIN runs r ON r.run = "
                          "i.run WHERE i.file_sha256 = ?");
  bind_all(query, file_sha256);
  while (query.executeStep())
    found.emplace(query.getColumn(0).getString(), query.getColumn(1).getString());
  return found;
}

}  // namespace

Status Store::put_transcript(const std::string& run, const std::string& operator_name,
                             const std::string& document, std::int64_t now_unix_ms) {
  return connection_->write([&](SQLite::Database& db) -> Status {
    ASSAY_RETURN_IF_ERROR(must_have_run(db, run));
    SQLite::Statement insert(db, "INSERT OR REPLACE INTO transcripts VALUES (?,?,?,?)");
    bind_all(insert, run, operator_name, document, now_unix_ms);
    insert.exec();
    return {};
  });
}

Result<std::optional<std::string>> Store::transcript(const std::string& run,
                                                     const std::string& operator_name) {
  return connection_->with([&](SQLite::Database& db) {
    return text_of_run(db, "transcripts",
                       "SELECT document FROM transcripts WHERE run = ? AND operator = ?",
                       {run, operator_name});
  });
}

Status Store::add_imported_runs(const std::string& file_sha256,
                                const std::function<std::optional<ImportedRun>()>& next) {
  return connection_->write([&](SQLite::Database& db) -> Status {
    const auto earlier = imported_from(db, file_sha256);
    while (const std::optional<ImportedRun> run = next()) {
      const tools::RunRequest& request = run->info.request;
      if (earlier.count({request.agent, request.model}) > 0)
        return fail(ErrorCode::invalid_argument,
                    "the file was imported before: the store has its runs of the agent '" +
                        escape_line(request.agent) + "' and the model '" +
                        escape_line(request.model) + "'");
      insert_run_row(db, run->info, "");
      for (const ImportedRun::Judged& judged : run->jobs)
        insert_judged(db, judged, run->info.created_unix_ms);
      SQLite::Statement insert(db, "INSERT INTO imported_runs VALUES (?,?,?)");
      bind_all(insert, run->info.handle, run->provenance, file_sha256);
      insert.exec();
    }
    return {};
  });
}

Result<std::string> Store::provenance(const std::string& run) {
  return connection_->with([&](SQLite::Database& db) -> Result<std::string> {
    ASSAY_TRY(found, text_of_run(db, "imported_runs",
                                 "SELECT provenance FROM imported_runs WHERE run = ?", {run}));
    return found.value_or("");
  });
}

}  // namespace assay::server
