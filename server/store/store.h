// The store keeps runs, charged tool calls, submissions, verdicts, artifacts and usage in one
// SQLite file (in WAL mode). Its functions accept and return typed rows. The rules about budgets,
// tracks and expiry are in server/runs. Each job needs two transactions. accept() checks the
// budget, charges the call and stores the job. finish() stores the artifacts and the verdict, and
// can refund the call.
//
//   Result<std::unique_ptr<Store>> store = Store::open("assay.db", StoreMode::read_write);
//   Result<Acceptance> accepted = (*store)->accept(job, "cpu", {.limit = 10}, now_unix_ms);
//   Result<sandbox::Verdict> stored = (*store)->finish(
//       job.id, tools::JobState::finished, std::move(verdict), /*refund=*/false, now_unix_ms);
//
// Only one Store can write to a file. While the file is open for writing, another open() with
// read_write fails, in this process and in all others. An open() with read_only succeeds.
// Thread-safe: one connection serialises all calls. Errors: unavailable if the file cannot be
// opened or written, or has a newer schema; corrupt if it is damaged or is not a store; not_found
// if the run, the job, the artifact or, for read_only, the file does not exist.
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
#include "server/store/store_limits.h"
#include "tools/model/services.h"

namespace assay::server {

enum class StoreMode {
  read_write,
  read_only,
  /// Like read_write. But if an existing store can be read and not be written, for example because
  /// the disk is full, open() succeeds. Each write then first tries to open the file for writing
  /// (make_writable()).
  write_when_possible,
};

/// A job that was accepted, but has no verdict yet.
struct UnfinishedJob {
  std::string job, run, device, operator_name;
  std::string principal;  // the owner of the job
  sandbox::JobKind kind = sandbox::JobKind::test;
  std::optional<sandbox::Job> request;  // empty if the stored document cannot be parsed
  std::int64_t attempts = 0;            // how often recover() has queued the job
};

struct FinishedJob {
  std::string run;  // the handle of the run; empty: unscored practice
  tools::JobState state = tools::JobState::finished;
  sandbox::Verdict verdict;  // the verdict without artifacts, which list_artifacts() returns
  std::int64_t elapsed_ms = 0;
};

/// The rules for charging a job to its run. A job is charged as one call of its kind for its
/// operator.
struct Charge {
  /// The maximum number of calls of this kind for this operator; -1 means unlimited.
  std::int64_t limit = -1;
  bool locks_source = false;  // true: only the operator's first source is accepted
};

/// The result of accept(). If the job is not accepted, nothing is stored.
struct Acceptance {
  enum class Refusal {
    none,      // the job is accepted
    budget,    // `used` calls of this kind are all that the run may make for the operator
    locked,    // the operator's first source differs (`locked_to`)
    refunds,   // too many calls for the operator were refunded
    no_space,  // the caller's jobs have as many bytes as JobLimits allow
    // The run's grades came from `graded_on`, whose times cannot be compared with those of the
    // job's device.
    other_class,
    reused,  // the call's id belongs to another call of the run
  };
  Refusal refusal = Refusal::none;
  bool accepted() const { return refusal == Refusal::none; }
  std::int64_t used = 0;        // the number of earlier calls of this kind that were not refunded
  std::string locked_to = {};   // the SHA-256 of the operator's first source
  std::string graded_on = {};   // the name of a device
  std::string graded_gpu = {};  // the GPU of its verdicts, if it is known
  std::string repeated = {};    // the job of an earlier call with this id; nothing was stored now
};

/// The devices whose grades can be in one run with those of another device.
struct ComparableDevices {
  std::vector<std::string> names;   // of devices that the server has
  std::vector<std::string> others;  // of all other devices that the server has
  std::string gpu;  // the device_name of their verdicts, if they are GPUs: "NVIDIA H200"
};

/// A job that is offered to accept_all().
struct OfferedJob {
  const sandbox::Job* job;
  std::string device;
  Charge charge = {};
  /// If the job is a grade of a run, the devices that may have graded the run before. Null: any.
  std::shared_ptr<const ComparableDevices> comparable = nullptr;
  /// Names the call in its run. A repeated call with the same id gets the job of the first one,
  /// unless this job has ended without a result about its source. Empty: every call is a new one.
  std::string call_id = {};
};

/// A job that ended, for finish_all().
struct JudgedJob {
  std::string job;
  tools::JobState state = tools::JobState::finished;
  sandbox::Verdict verdict;
  bool refund = false;  // the job's call does not count against the budget
};

/// A job in the store, whoever owns it and whether it is finished or not.
struct StoredJob {
  std::string job, run, operator_name, kind, device;  // an empty run: unscored practice
  std::string state;  // "queued" until the job has a verdict, even while it runs
  std::string source, source_sha256;
  std::int64_t queued_unix_ms = 0;
  std::optional<std::int64_t> finished_unix_ms;
  std::optional<sandbox::Verdict> verdict;  // empty while the job is unfinished
};

/// A submission of a run that was sent for a grade.
struct GradedJob {
  std::string operator_name, job;
  std::optional<sandbox::Verdict> verdict;  // empty while the job is unfinished
};

/// A run whose verdicts were made elsewhere.
struct ImportedRun {
  struct Judged {
    sandbox::Job job;  // its source can be empty, if it is not known
    std::string device;
    sandbox::Verdict verdict;
  };
  tools::RunInfo info;
  std::string provenance;  // where the verdicts are from, in words
  std::vector<Judged> jobs;
};

/// How far a run is.
struct RunProgress {
  tools::RunInfo run;
  std::int64_t calls = 0;         // jobs of all kinds, at most 10,000
  std::int64_t submitted = 0;     // operators with a graded submission
  std::int64_t passed = 0;        // operators with a right submission
  std::int64_t last_unix_ms = 0;  // when its last job was accepted or ended; 0: it has none
};

class Store {
 public:
  static Result<std::unique_ptr<Store>> open(const std::filesystem::path& path, StoreMode mode,
                                             const StoreLimits& limits = {});
  ~Store();
  /// Returns false if the store was opened with write_when_possible and cannot be written yet.
  bool writable() const;
  /// Tries to open the file for writing, if it cannot be written yet. Error: unavailable. Does not
  /// try more often than once a second.
  Status make_writable();
  Store(const Store&) = delete;
  Store& operator=(const Store&) = delete;

  // The next functions are in store_runs.cc.
  /// Stores a run and returns it. If the request has a `call_id` and the principal has a run with
  /// this id that is not over, stores nothing and returns that run.
  Result<tools::RunInfo> insert_run(const tools::RunInfo& run, const std::string& principal);
  /// Returns the run that insert_run() would return instead of a new one.
  Result<std::optional<tools::RunInfo>> run_of_repeat(const std::string& principal,
                                                      const std::string& call_id,
                                                      std::int64_t now_unix_ms);
  /// Returns the run. If `principal` has a value, finds only runs of this principal.
  Result<tools::RunInfo> run(const std::string& handle,
                             const std::optional<std::string>& principal);
  Result<std::vector<tools::RunInfo>> runs();  // newest first
  /// Returns the runs of the principal, newest first.
  Result<std::vector<tools::RunInfo>> runs_of(const std::string& principal);
  /// Returns the progress of the newest runs of the principal, newest first. Reads a bounded number
  /// of rows.
  Result<std::vector<RunProgress>> progress_of_runs(const std::string& principal,
                                                    std::int64_t most_runs);
  /// Returns a text that changes when the principal's runs, jobs, verdicts, transcripts or usage
  /// change. Reads one row.
  Result<std::string> revision_of(const std::string& principal);
  /// Records that a run is over. The record stays, even if the machine's clock is set back.
  Status end_run(const std::string& run, std::int64_t now_unix_ms);
  Result<bool> has_ended(const std::string& run);
  Status add_usage(const std::string& run, const tools::Usage& usage, std::int64_t now_unix_ms);
  Result<tools::Usage> usage(const std::string& run);
  /// Returns the number of charged calls for each operator. Refunded calls do not count.
  Result<std::map<std::string, std::int64_t>> tool_calls(const std::string& run);
  /// Returns the number of charged calls for each kind of job. Refunded calls do not count.
  Result<std::map<std::string, std::int64_t>> calls_by_kind(const std::string& run,
                                                            const std::string& operator_name);
  /// Returns the run's submissions that were sent for a grade, in the order of acceptance.
  Result<std::vector<GradedJob>> graded(const std::string& run);
  /// Returns the results of the finished calls of compile, run_tests and profile, by operator. The
  /// calls of an operator are in the order of acceptance.
  Result<std::map<std::string, std::vector<tools::JudgedCall>>> judged_calls(
      const std::string& run);

  // The next two functions are in accept_jobs.cc.
  /// Charges the job to `job.run`, unless `job.run` is empty, and stores the job. If the job is
  /// practice and needs room (JobLimits), removes the caller's oldest practice jobs. When this
  /// function returns, the write is durable (fsync).
  Result<Acceptance> accept(const sandbox::Job& job, const std::string& device,
                            const Charge& charge, std::int64_t now_unix_ms);
  /// Returns the job of an earlier call that the offered one repeats, or "" if it is a new call.
  Result<std::string> job_of_repeat(const OfferedJob& offered);
  /// Accepts several jobs in one transaction, in their order. A job that is not accepted does not
  /// disturb the others.
  Result<std::vector<Acceptance>> accept_all(const std::vector<OfferedJob>& jobs,
                                             std::int64_t now_unix_ms);

  // The next functions are in store_jobs.cc.
  /// Stores the verdict, and those of its artifacts that ArtifactLimits allow. If the verdict has
  /// artifacts, also removes expired artifacts, and older artifacts of practice jobs whose room is
  /// needed. If the artifacts cannot be written, stores the verdict without them. If `refund` is
  /// true, the job's call does not count against the budget. Returns the verdict in its stored
  /// form: without the artifacts, and with the list `artifacts_dropped` of the artifacts that were
  /// not kept. When this function returns, the write is durable. Returns an error if the job
  /// already has a verdict.
  Result<sandbox::Verdict> finish(const std::string& job, tools::JobState state,
                                  sandbox::Verdict verdict, bool refund, std::int64_t now_unix_ms);
  /// Stores several verdicts like finish(), in one transaction. Returns the outcome of each. A
  /// verdict that cannot be stored does not disturb the others.
  std::vector<Result<sandbox::Verdict>> finish_all(std::vector<JudgedJob> jobs,
                                                   std::int64_t now_unix_ms);
  /// Returns the finished job, or nothing while the job is unfinished. Errors: not_found if
  /// `principal` has no such job.
  Result<std::optional<FinishedJob>> finished_job(const std::string& job,
                                                  const std::string& principal);
  /// Returns the source of a job, whoever owns it. Only the commands of the operator of this server
  /// may call this function. Error: not_found if there is no such job.
  Result<std::string> source(const std::string& job);
  /// Returns the source of a job of `principal`. Errors: not_found if `principal` has no such job;
  /// corrupt if the job cannot be read.
  Result<tools::JobSource> source_of(const std::string& job, const std::string& principal);
  /// Returns the job, whoever owns it. Only the commands of the operator of this server may call
  /// this function. Error: not_found if there is no such job.
  Result<StoredJob> stored_job(const std::string& job);
  static constexpr std::int64_t kAllJobs = -1;
  /// Returns the jobs of an operator in a run, whatever their kind, in the order of acceptance; of
  /// more than `most` jobs, the newest. The caller must have checked who owns the run.
  Result<std::vector<StoredJob>> stored_jobs(const std::string& run,
                                             const std::string& operator_name,
                                             std::int64_t most = kAllJobs);
  /// Returns the names of the devices that graded the run's submissions, sorted: "NVIDIA H200". In
  /// a run without grades, they are those of its other jobs. A device without a name in the verdict
  /// has its identifier instead: "cpu".
  Result<std::vector<std::string>> device_names(const std::string& run);
  Result<std::vector<UnfinishedJob>> unfinished_jobs();  // oldest first
  /// Counts that a server queues an unfinished job again. If `refund` is true, the job's call no
  /// longer counts against the budget.
  Status begin_again(const std::string& job, bool refund);

  // The next functions are in store_artifacts.cc.
  /// Removes expired artifacts. If the artifacts in the store still exceed their limit, also
  /// removes the oldest artifacts of practice jobs.
  Status remove_expired_artifacts(std::int64_t now_unix_ms);

  /// Reads a part of an artifact. If `principal` has a value, finds only artifacts of this
  /// principal.
  Result<tools::ArtifactSlice> read_artifact(const std::string& handle,
                                             const std::optional<std::string>& principal,
                                             std::int64_t offset, std::int64_t limit_bytes);
  /// Returns the handle and the text "KIND NAME" of each artifact of a job, in the order in which
  /// the verdict had the artifacts.
  Result<std::vector<std::pair<std::string, std::string>>> list_artifacts(const std::string& job);

  // The next functions are in store_additions.cc.
  /// Stores the transcript of the run's attempt at an operator, in place of an earlier one. Error:
  /// not_found if there is no such run.
  Status put_transcript(const std::string& run, const std::string& operator_name,
                        const std::string& document, std::int64_t now_unix_ms);
  /// Returns the stored document, or nothing. It is untrusted: transcripts::parse_transcript()
  /// reads it. The caller must have checked who owns the run.
  Result<std::optional<std::string>> transcript(const std::string& run,
                                                const std::string& operator_name);
  /// Adds the runs of a file with their finished jobs, in one transaction. `next` returns one run
  /// after the other, and then nothing. The runs belong to the principal without a name.
  /// `file_sha256` is the SHA-256 of the file. Error: invalid_argument if the store has a run of
  /// the same agent and model from an earlier import of the file.
  Status add_imported_runs(const std::string& file_sha256,
                           const std::function<std::optional<ImportedRun>()>& next);
  /// Returns where the run's verdicts were imported from; empty: the run was made here.
  Result<std::string> provenance(const std::string& run);

  // The next functions are in store_tasks.cc.
  /// Inserts or replaces the task, and deletes expired tasks. When this function returns, the write
  /// is durable.
  Status save_task(const mcp::TaskRecord& task);
  Result<std::optional<mcp::TaskRecord>> task(const std::string& id);

 private:
  struct Connection;  // connection.h
  Store(std::unique_ptr<Connection> connection, const StoreLimits& limits);
  static Result<std::unique_ptr<Store>> open_until_writable(const std::filesystem::path& path,
                                                            const StoreLimits& limits,
                                                            const Error& why);
  std::unique_ptr<Connection> connection_;
  const StoreLimits limits_;
};

}  // namespace assay::server
