// Declares the interfaces through which the tools use runs, jobs and artifacts. The server
// implements the interfaces over its store (server/runs, server/store); some tests implement them
// in memory. All methods are thread-safe.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "base/suite_id.h"
#include "operators/catalog.h"
#include "operators/guides.h"
#include "sandbox/job/device.h"
#include "sandbox/job/job.h"
#include "tools/model/principal.h"
#include "tools/model/tracks.h"

namespace assay::operators {
class Catalog;
class ExampleSearch;
}  // namespace assay::operators

namespace assay::tools {

class SourceFolder;

/// Returns the tool that makes jobs of this kind: "run_tests", for example.
std::string_view tool_of(sandbox::JobKind kind);

struct RunRequest {
  std::string agent, model;
  Track track = Track::practice;
  std::string suite = "all";  // "all", a split, or a comma-separated list of operators
  /// Names the call, so that the client can repeat it and gets the same run. Empty: a new run.
  std::string call_id = {};
};

struct RunInfo {
  std::string handle;
  RunRequest request;
  Budgets budgets;
  std::vector<std::string> operators;  // the names of the suite's operators, in catalog order
  SuiteId suite_id = {};  // the server's suite when the run started; unknown for an old stored run
  std::int64_t created_unix_ms = 0;
  std::int64_t expires_unix_ms = 0;
};

/// One report of the tokens and the money that an agent used, or the sum of a run's reports. If a
/// report has no cost, its cost is unknown, not 0.
struct Usage {
  std::int64_t input_tokens = 0;
  std::int64_t output_tokens = 0;
  double cost_usd = 0;      // in a sum: the total of the reports that have a cost
  bool cost_known = false;  // in a sum: true if there are reports and each has a cost
  /// Names one report of a run, so that it counts once even if a client repeats it. Empty if the
  /// client does not name the report, and in a sum.
  std::string call_id = {};
};

/// The result of one call of compile, run_tests, profile or submit.
struct JudgedCall {
  sandbox::JobKind kind = sandbox::JobKind::test;
  sandbox::Outcome outcome = sandbox::Outcome::error;
  sandbox::ErrorKind error_kind = sandbox::ErrorKind::none;
  sandbox::Stage stage = sandbox::Stage::queue;
};

struct OperatorScore {
  std::string operator_name;
  std::string split;
  bool submitted = false;
  std::string job;  // handle of the graded submission's job
  std::optional<sandbox::Verdict> verdict;
  std::int64_t tool_calls = 0;
  std::vector<JudgedCall> calls = {};  // the calls before the graded submission; filled for reports
};

/// The reason why a suite has no Perf@1.
inline constexpr std::string_view kMixedBaselines =
    "the operators have different baselines, and Perf is averaged only over one baseline";

/// Returns with what the Perf of an operator compares, as its verdict says. Without a verdict, it
/// is the baseline of `op`, or the oracle if `op` is null.
Baseline baseline_of(const OperatorScore& score, const operators::Operator* op);

struct Scorecard {
  RunInfo run;
  Usage usage;
  std::vector<OperatorScore> operators;
  std::int64_t passed = 0;
  std::int64_t submitted = 0;
  double pass_at_1 = 0;  // over the whole suite; an operator without a submission is a failure
  /// With what the Perf of all operators compares. Absent if the operators differ.
  std::optional<Baseline> baseline = Baseline::oracle;
  std::optional<double> perf_at_1;  // absent if a right submission was not timed
};

/// The rest of a run's budget for one kind of call on one operator. In each field -1 means
/// unlimited.
struct CallsLeft {
  std::int64_t limit = -1;
  std::int64_t left = -1;
  std::int64_t submissions = -1;  // submissions of the operator that are left
};

/// The started run belongs to `principal`. The other functions find only runs of `principal`, and
/// return the error not_found for any other handle of a run.
class RunService {
 public:
  virtual ~RunService() = default;
  virtual Result<RunInfo> start(const Principal& principal, const RunRequest& request) = 0;
  virtual Result<RunInfo> find(const Principal& principal, const std::string& run) = 0;
  virtual Result<CallsLeft> calls_left(const Principal& principal, const std::string& run,
                                       const std::string& operator_name, sandbox::JobKind kind) = 0;
  virtual Status report_usage(const Principal& principal, const std::string& run,
                              const Usage& usage) = 0;
  virtual Result<Scorecard> scorecard(const Principal& principal, const std::string& run) = 0;
};

enum class JobState { queued, running, finished, cancelled, aborted };
std::string_view to_string(JobState state);

struct JobStatus {
  std::string job;
  std::string run = {};  // the handle of the run that was charged; empty: practice
  JobState state = JobState::queued;
  std::int64_t queue_position = 0;               // 0 if the job runs or is over
  std::optional<std::int64_t> expected_wait_ms;  // set for a queued job; estimated from past jobs
  std::int64_t elapsed_ms = 0;
  sandbox::EngineNote engine = {};  // what the engine that starts workers does, if the job waits
  std::string stage;                // the stage that the job is in
  std::int64_t cases_done = 0;      // cases that finished the stage
  std::int64_t cases_total = 0;     // 0: unknown
  std::shared_ptr<const sandbox::Verdict> verdict = nullptr;  // null until the job is over
  /// True if the server stops before the job is over. The next server runs the job again.
  bool server_stops = false;
};

/// The source of a stored job.
struct JobSource {
  std::string text;
  std::string language;
};

/// A job with the run that is charged and the device; both can be empty.
struct NewJob {
  sandbox::Job job;
  std::string run, device;
  /// Names the call in its run, so that the client can repeat it: submit_all() returns the handle
  /// of the first call's job. Empty: every call is a new one.
  std::string call_id = {};
};

/// The functions find only runs and jobs of `principal`, and return the error not_found for any
/// other handle of a run or a job.
class JobService {
 public:
  virtual ~JobService() = default;
  /// Charges one call to the run, stores the job, queues it and returns its handle. The job belongs
  /// to `principal`. If the job breaks a rule of the run, the error names the rule and nothing is
  /// charged. In the one_shot track an operator accepts only its first source. When this returns,
  /// the job is on disk and survives a restart. An empty `run` means practice.
  virtual Result<std::string> submit(const Principal& principal, sandbox::Job job,
                                     const std::string& run, const std::string& device) = 0;
  /// Submits several jobs, which costs less than a submit() for each. Returns a handle or an error
  /// for each job. A job that is refused does not disturb the others.
  virtual std::vector<Result<std::string>> submit_all(const Principal& principal,
                                                      std::vector<NewJob> jobs);
  /// Waits at most `wait_ms` until the job ends. Calls `progress`, which may be null, when the
  /// stage changes and when a case finishes the stage. If `progress` returns false, or if `stop` is
  /// requested, the wait ends and the job continues.
  virtual Result<JobStatus> wait(const Principal& principal, const std::string& job,
                                 std::int64_t wait_ms,
                                 const std::function<bool(const JobStatus&)>& progress,
                                 std::stop_token stop = {}) = 0;
  virtual Status cancel(const Principal& principal, const std::string& job) = 0;
  /// Cancels the job if no device has begun it, and returns whether it did. A job that has begun is
  /// left alone.
  virtual Result<bool> cancel_queued(const Principal& principal, const std::string& job) = 0;
  /// Returns the source of a job of `principal`, whether the job has ended or not.
  virtual Result<JobSource> source(const Principal& principal, const std::string& job) = 0;
  /// Returns the names of the devices. The first device is the default.
  virtual std::vector<std::string> devices() const = 0;
};

struct ArtifactSlice {
  std::string kind, name;
  std::int64_t total_bytes = 0;
  std::int64_t offset = 0;
  std::string bytes;
};

class ArtifactService {
 public:
  virtual ~ArtifactService() = default;
  /// Reads an artifact of a job of `principal`. Returns the error not_found for any other handle.
  virtual Result<ArtifactSlice> read(const Principal& principal, const std::string& artifact,
                                     std::int64_t offset, std::int64_t limit_bytes) = 0;
  /// Returns for each artifact of the job its handle and the text "KIND NAME". The caller must have
  /// found the job on behalf of the job's principal.
  virtual std::vector<std::pair<std::string, std::string>> list(const std::string& job) = 0;
};

/// Limits of the answers. docs/reference/limits.md lists them.
struct AnswerLimits {
  std::int64_t answer_within_ms = 20'000;  // after this time a call answers with a job handle
  std::int64_t concise_chars = 4'800;      // 1,500 tokens of 3.2 characters
  std::int64_t detailed_chars = 25'600;    // 8,000 tokens, the most that clients accept
};

/// All services and settings that the tools use. The referenced objects must outlive the tools.
struct Services {
  const operators::Catalog& catalog;
  RunService& runs;
  JobService& jobs;
  ArtifactService& artifacts;
  AnswerLimits limits = {};
  sandbox::Limits job_limits = {};                     // the limits of every job that a tool makes
  const operators::ExampleSearch* examples = nullptr;  // null: `search_examples` is unavailable
  const std::vector<operators::Guide>* guides = nullptr;  // null: the server has no guides
  const SourceFolder* source_folder = nullptr;            // null: the tools take no `path`
  const Clock& clock = system_clock();
};

}  // namespace assay::tools
