// The store: runs, charged tool calls, submissions, verdicts, artifacts and usage, in one SQLite
// file (WAL). Typed rows in, typed rows out; rules (budgets, tracks, expiry) are server/runs'
// business.
//
//   auto store = Store::open("assay.db", StoreMode::read_write);
//   (*store)->insert_job(job, run, "cpu", now);               // on the disk when it returns
//
// One writer: a second read_write open of the same file, also by another process, is refused while
// the first lives; read_only opens are not. Thread-safe: calls are serialised on one connection.
// Errors: `unavailable` (cannot be opened or written, newer schema), `corrupt`, `not_found`.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "sandbox/job/job.h"
#include "server/mcp/core/task.h"
#include "tools/model/services.h"

namespace assay::server {

enum class StoreMode { read_write, read_only };

/// A job that was accepted and has no verdict.
struct UnfinishedJob {
  std::string job, run, device, operator_name;
  sandbox::JobKind kind = sandbox::JobKind::test;
  std::optional<sandbox::Job> request;  // empty when what is stored cannot be read
  std::int64_t attempts = 0;            // earlier recover()s that took it up
};

struct FinishedJob {
  std::string run;  // empty: none
  tools::JobState state = tools::JobState::finished;
  sandbox::Verdict verdict;  // without artifacts: those have rows of their own
  std::int64_t elapsed_ms = 0;
};

/// Charge refused: how many are used up, or which source the operator is locked to.
struct ChargeOutcome {
  bool granted = false;
  std::int64_t used = 0;  // before this one
  std::string locked_to;  // SHA-256, when another source than the first was refused
};

/// A graded submission of a run, in the order of acceptance.
struct GradedJob {
  std::string operator_name, job;
  std::optional<sandbox::Verdict> verdict;  // none while it is unfinished
};

class Store {
 public:
  static Result<std::unique_ptr<Store>> open(const std::filesystem::path& path, StoreMode mode);
  ~Store();
  Store(const Store&) = delete;
  Store& operator=(const Store&) = delete;

  // store_runs.cc
  Status insert_run(const tools::RunInfo& run);
  Result<tools::RunInfo> run(const std::string& handle);
  Result<std::vector<tools::RunInfo>> runs();  // newest first
  Status add_usage(const std::string& run, const tools::Usage& usage, std::int64_t now_unix_ms);
  Result<tools::Usage> usage(const std::string& run);
  /// One transaction: counts, checks and records. `limit` -1 is unlimited. `lock` refuses any but
  /// the operator's first source.
  Result<ChargeOutcome> charge(const std::string& run, const std::string& operator_name,
                               sandbox::JobKind kind, const std::string& source_sha256,
                               std::int64_t limit, bool lock, std::int64_t now_unix_ms);
  /// Gives back charges that no accepted job stands for; an empty `run` means those of all runs
  /// (after a restart).
  Status refund_unbound(const std::string& run, const std::string& operator_name,
                        sandbox::JobKind kind, const std::string& source_sha256);
  Status refund_all_unbound();
  Result<std::map<std::string, std::int64_t>> tool_calls(
      const std::string& run);  // operator -> calls
  Result<std::map<std::string, std::int64_t>> calls_by_kind(
      const std::string& run, const std::string& operator_name);  // kind -> calls
  Result<std::vector<GradedJob>> graded(const std::string& run);
  /// operator -> how its compile, run_tests and profile calls ended, in the order of acceptance;
  /// those that are unfinished are left out.
  Result<std::map<std::string, std::vector<tools::JudgedCall>>> judged_calls(
      const std::string& run);

  // store_jobs.cc
  /// Durable (fsync) when it returns. Binds the oldest open charge of the same run, operator, kind
  /// and source.
  Status insert_job(const sandbox::Job& job, const std::string& run, const std::string& device,
                    std::int64_t now_unix_ms);
  /// Durable when it returns. `refund`: the job's charge does not count.
  Status finish_job(const std::string& job, tools::JobState state, const sandbox::Verdict& verdict,
                    bool refund, std::int64_t now_unix_ms);
  /// Empty while the job is unfinished; not_found when there is no such job.
  Result<std::optional<FinishedJob>> finished_job(const std::string& job);
  Result<std::string> source(
      const std::string& job);  // what was submitted; not_found when there is no such job
  Result<std::vector<UnfinishedJob>> unfinished_jobs();  // oldest first
  Status count_attempt(const std::string& job);

  // store_artifacts.cc
  Status insert_artifact(const std::string& handle, const std::string& job,
                         const sandbox::Artifact& artifact, std::int64_t now_unix_ms);
  Result<tools::ArtifactSlice> read_artifact(const std::string& handle, std::int64_t offset,
                                             std::int64_t limit_bytes);
  Result<std::vector<std::pair<std::string, std::string>>> list_artifacts(const std::string& job);

  // store_tasks.cc
  /// Durable when it returns: inserts or replaces. Deletes the tasks whose time is over.
  Status save_task(const mcp::TaskRecord& task);
  Result<std::optional<mcp::TaskRecord>> task(const std::string& id);

 private:
  struct Connection;  // connection.h
  explicit Store(std::unique_ptr<Connection> connection);
  std::unique_ptr<Connection> connection_;
};

}  // namespace assay::server
