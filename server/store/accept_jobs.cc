// Implements Store::accept() and Store::accept_all(): checks jobs, charges them and stores them.
#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>

#include "base/handle.h"
#include "base/json.h"
#include "base/result.h"
#include "base/text.h"
#include "server/store/connection.h"
#include "server/store/prune_jobs.h"
#include "server/store/store.h"
#include "tools/json/verdict_json.h"

namespace assay::server {
namespace {

using nlohmann::json;

/// Checks a job against its run's budget, against the limit of refunds and, if the track accepts
/// only the first source, against the operator's first source. Does not write anything.
Acceptance check(SQLite::Database& db, Statements& statements, const sandbox::Job& job,
                 const std::string& sha256, const Charge& charge, const JobLimits& limits) {
  using Refusal = Acceptance::Refusal;
  Acceptance found;
  if (charge.locks_source) {
    SQLite::Statement first(db,
                            "SELECT source_sha256 FROM tool_calls WHERE run = ? AND operator = ? "
                            "ORDER BY id LIMIT 1");
    bind_all(first, job.run, job.operator_name);
    if (first.executeStep() && first.getColumn(0).getString() != sha256) {
      found.refusal = Refusal::locked;
      found.locked_to = first.getColumn(0).getString();
      return found;
    }
  }
  const auto count = statements.prepared(
      db,
      "SELECT ifnull(sum(kind = ? AND refunded = 0), 0), "
      "ifnull(sum(refunded), 0) FROM tool_calls WHERE run = ? AND operator = ?");
  bind_all(*count, std::string(sandbox::to_string(job.kind)), job.run, job.operator_name);
  count->executeStep();
  found.used = count->getColumn(0).getInt64();
  if (charge.limit < 0) return found;
  if (found.used >= charge.limit)
    found.refusal = Refusal::budget;
  else if (count->getColumn(1).getInt64() >= limits.refunds)
    found.refusal = Refusal::refunds;
  return found;
}

struct Graded {
  std::string device, gpu;
};

/// Returns the device that graded the run before, if its times cannot be compared with those of the
/// job's device. Grades that were not charged do not count, because they have no result. If the GPU
/// of an earlier grade is known, it decides, because a device may have had another GPU before the
/// server was started again.
std::optional<Graded> device_of_other_class(SQLite::Database& db, Statements& statements,
                                            const OfferedJob& offered) {
  if (offered.comparable == nullptr || offered.job->kind != sandbox::JobKind::grade) return {};
  const auto query = statements.prepared(
      db,
      "SELECT s.device, ifnull(json_extract(v.document, '$.provenance.device_name'), '') "
      "FROM submissions s JOIN tool_calls t ON t.job = s.job LEFT JOIN verdicts v ON v.job = s.job "
      "WHERE s.run = ? AND s.kind = 'grade' AND t.refunded = 0 "
      // A grade that was cancelled while it waited has a verdict, but no GPU.
      "ORDER BY ifnull(json_extract(v.document, '$.provenance.device_name'), '') = '' LIMIT 1");
  bind_all(*query, offered.job->run);
  if (!query->executeStep()) return {};
  Graded before{query->getColumn(0).getString(), query->getColumn(1).getString()};
  const std::string& device = before.device;
  const ComparableDevices& comparable = *offered.comparable;
  if (!comparable.gpu.empty() && !before.gpu.empty() && comparable.gpu != before.gpu) return before;
  const auto is_in = [&](const std::vector<std::string>& names) {
    return std::find(names.begin(), names.end(), device) != names.end();
  };
  if (is_in(comparable.names)) return {};
  // The server may no longer have this device, perhaps because the device has another name now.
  const bool is_gone = !is_in(comparable.others) && !comparable.gpu.empty();
  if (is_gone && before.gpu == comparable.gpu) return {};
  return before;
}

/// A call of a run that was charged before.
struct EarlierCall {
  std::string job;
  bool is_same = false;  // it has the same tool, operator and source
  bool is_void = false;  // its job has ended without a result about its source
};

/// Looks for a call of the job's run with the same id.
std::optional<EarlierCall> earlier_call(SQLite::Database& db, const OfferedJob& offered,
                                        const std::string& sha256) {
  const sandbox::Job& job = *offered.job;
  if (offered.call_id.empty() || job.run.empty()) return std::nullopt;
  SQLite::Statement query(
      db,
      "SELECT t.job, t.operator = ? AND t.kind = ? AND t.source_sha256 = ?, v.error_kind "
      "FROM tool_calls t LEFT JOIN verdicts v ON v.job = t.job WHERE t.run = ? AND t.call_id = ?");
  bind_all(query, job.operator_name, std::string(sandbox::to_string(job.kind)), sha256, job.run,
           offered.call_id);
  if (!query.executeStep()) return std::nullopt;
  EarlierCall found{query.getColumn(0).getString(), query.getColumn(1).getInt() != 0};
  if (const SQLite::Column kind = query.getColumn(2); !kind.isNull()) {
    const auto known = sandbox::error_kind_from(kind.getString());
    found.is_void = known && sandbox::is_inconclusive(*known);
  }
  return found;
}

/// Returns the answer to a call whose id the run knows already, or nothing if the job is a new
/// call. The id is free again if its job says nothing about its source.
std::optional<Acceptance> answer_to_repeat(SQLite::Database& db, const OfferedJob& offered,
                                           const std::string& sha256) {
  const std::optional<EarlierCall> earlier = earlier_call(db, offered, sha256);
  if (!earlier) return std::nullopt;
  Acceptance found;
  if (!earlier->is_same) {
    found.refusal = Acceptance::Refusal::reused;
    return found;
  }
  if (!earlier->is_void) {
    found.repeated = earlier->job;
    return found;
  }
  SQLite::Statement free(db, "UPDATE tool_calls SET call_id = NULL WHERE run = ? AND call_id = ?");
  bind_all(free, offered.job->run, offered.call_id);
  free.exec();
  return std::nullopt;
}

/// Checks and stores one job.
Acceptance accept_one(SQLite::Database& db, Statements& statements, const OfferedJob& offered,
                      const std::string& sha256, const std::string& document,
                      const JobLimits& limits, std::int64_t now_unix_ms) {
  const sandbox::Job& job = *offered.job;
  if (auto repeat = answer_to_repeat(db, offered, sha256)) return std::move(*repeat);
  Acceptance allowed =
      job.run.empty() ? Acceptance() : check(db, statements, job, sha256, offered.charge, limits);
  if (!allowed.accepted()) return allowed;
  if (auto other = device_of_other_class(db, statements, offered)) {
    allowed.refusal = Acceptance::Refusal::other_class;
    allowed.graded_on = std::move(other->device);
    allowed.graded_gpu = std::move(other->gpu);
    return allowed;
  }
  const auto bytes = static_cast<std::int64_t>(job.source.size() + document.size());
  if (!make_room_for_job(db, statements, job, bytes, limits)) {
    allowed.refusal = Acceptance::Refusal::no_space;
    return allowed;
  }
  const std::string kind(sandbox::to_string(job.kind));
  const auto insert = statements.prepared(
      db, "INSERT INTO submissions VALUES (?,?,?,?,?,'queued',?,?,?,0,?,NULL,?)");
  bind_all(*insert, job.id, job.run, job.operator_name, kind, offered.device, job.source, sha256,
           document, now_unix_ms, job.caller);
  insert->exec();
  if (job.run.empty()) return allowed;
  const auto call = statements.prepared(
      db,
      "INSERT INTO tool_calls (run, operator, kind, source_sha256, job, at_unix_ms, call_id) "
      "VALUES (?,?,?,?,?,?,nullif(?, ''))");
  bind_all(*call, job.run, job.operator_name, kind, sha256, job.id, now_unix_ms, offered.call_id);
  call->exec();
  return allowed;
}

}  // namespace

Result<Acceptance> Store::accept(const sandbox::Job& job, const std::string& device,
                                 const Charge& charge, std::int64_t now_unix_ms) {
  ASSAY_TRY(accepted, accept_all({{&job, device, charge}}, now_unix_ms));
  return std::move(accepted.front());
}

Result<std::string> Store::job_of_repeat(const OfferedJob& offered) {
  const std::string sha256 = sha256_hex(offered.job->source);
  return connection_->with([&](SQLite::Database& db) -> Result<std::string> {
    const std::optional<EarlierCall> earlier = earlier_call(db, offered, sha256);
    return earlier && earlier->is_same && !earlier->is_void ? earlier->job : std::string();
  });
}

Result<std::vector<Acceptance>> Store::accept_all(const std::vector<OfferedJob>& jobs,
                                                  std::int64_t now_unix_ms) {
  std::vector<std::string> documents, hashes;
  for (const OfferedJob& offered : jobs) {
    json request = tools::job_to_json(*offered.job);
    request.erase("source");
    documents.push_back(json_text(request));
    hashes.push_back(sha256_hex(offered.job->source));
  }
  return connection_->write_durably([&](SQLite::Database& db) -> Result<std::vector<Acceptance>> {
    std::vector<Acceptance> all;
    for (std::size_t i = 0; i < jobs.size(); ++i)
      all.push_back(accept_one(db, connection_->statements, jobs[i], hashes[i], documents[i],
                               limits_.jobs, now_unix_ms));
    return all;
  });
}

}  // namespace assay::server
