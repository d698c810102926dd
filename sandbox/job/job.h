// Defines the contract of the sandbox: the sandbox receives a Job and returns a Verdict. Both are
// plain structs without behaviour, JSON or pointers.
//
//   Job job;
//   job.kind = JobKind::test;
//   job.operator_name = "vector_add";
//   job.source = "...";
//   Verdict verdict = device.execute(job, monitor);
//
// A pass needs positive evidence: one complete, passing CaseRecord for every case of the job. A
// missing result, an early exit, an incomplete message or a second result for a case is an error.
// Only the judge writes the numerical results in a CaseRecord. tools/json/verdict_json.h defines
// the JSON form, and docs/reference/verdict.md documents it. Threads may copy and move these
// structs. A struct must not change while several threads use it.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/baseline.h"
#include "base/suite_id.h"
#include "sandbox/job/check_reference.h"
#include "sandbox/job/distant_sources.h"
#include "sandbox/job/limits.h"
#include "sandbox/job/profile.h"
#include "sandbox/job/sanitizer_report.h"
#include "sandbox/job/timing.h"
#include "sandbox/job/wrong_output.h"
#include "sandbox/wire/launch_parts.h"
#include "sandbox/wire/operation_time.h"

namespace assay::sandbox {

enum class JobKind {
  compile,  // compile and record for `targets`; nothing runs on a device
  test,     // public cases, fresh seeds
  profile,  // one case, timed or analysed
  grade,    // public and hidden cases, timed if the device can time; counts for the score
};

/// Returns true if a check may have this kind. A check is never a grade.
inline constexpr bool may_be_check(JobKind kind) {
  return kind == JobKind::test || kind == JobKind::profile;
}

enum class Outcome { pass, fail, error };

/// The tier says how far a verdict can be trusted. The most trustworthy tier comes first. `none`
/// means that nothing ran (a compile job, or an early error).
enum class Tier { plan, host, interpreter, none };

/// The stages of a job, in their order. A verdict contains the stage at which the job ended.
enum class Stage { queue, import, compile, record, launch, run, judge, baseline, recheck, done };

/// The kinds of errors. tools/model/outcome_names.h maps each kind to an error type and group of
/// TritonBench.
enum class ErrorKind {
  none,
  // Exceptions of the submission's Python code. The names are TritonBench's.
  syntax_error,
  indentation_error,
  attribute_error,
  type_error,
  not_implemented_error,
  name_error,
  key_error,
  index_error,
  module_not_found,
  import_error,
  value_error,
  zero_division,
  runtime_error,
  recursion_error,
  assertion_error,
  compilation_error,  // Triton, LLVM, ptxas or NVRTC rejected a kernel
  other_exception,    // another Python exception, which Diagnostic::exception names
  // Wrong answers.
  missing_entry,       // the source does not define the operator's entry function
  interface_mismatch,  // the submission's class has another constructor, forward or state dict
  output_mismatch,     // wrong number, dtype or shape of outputs
  wrong_result,        // numerics outside the tolerance (TritonBench: ResultsError)
  unattributed,  // the outputs are right, but the submission's own kernels did not compute them
  hidden_case,   // replaces the kind for clients if only hidden cases failed; never stored
  // Limits.
  timeout,
  memory_limit,
  process_limit,
  output_limit,
  disk_limit,
  gpu_memory_limit,
  // Errors of the candidate's process and of the protocol.
  crash,           // killed by a signal, which `detail` names
  protocol_error,  // ended without a complete record, or sent a malformed or second record
  // The device.
  invalid_plan,      // the launch plan failed validation
  not_recordable,    // needs the host tier; `detail` names the operation and the line
  launch_failure,    // the driver rejected a launch
  gpu_fault,         // illegal address, device assert, misaligned access
  canary_violation,  // wrote outside a buffer; in the interpreter, also read outside a buffer
  floor_violation,   // faster than the physical limits allow
  memory_error,      // found by a sanitizer: access outside a buffer, or read of unwritten memory
  race,              // found by a sanitizer: a race in shared memory, or a misused barrier
  unsupported,       // this device cannot run the job; `detail` says why
  reference_error,   // the reference of a check failed; `detail` says where
  // Assay and its machine.
  cancelled,
  aborted,
  device_unhealthy,  // the device fails its own checks; `detail` says how
  internal_error,
};

/// The kinds of hints. Code that hides or reports hints decides by the kind, never by the text.
enum class HintKind {
  other,                 // from an old stored verdict, in which hints had no kinds
  would_be_slow,         // most of the GPU would be idle
  spills,                // a kernel spills registers
  low_occupancy,         // a kernel leaves too few warps to hide latency
  many_launches,         // launch overhead dominates
  no_own_kernel,         // the submission compiled, but it launches no kernel of its own
  not_recorded,          // no resource figures, because of an error that is not the submission's
  unattributed_run,      // from an old stored verdict of the host tier; now `unattributed`
  not_deterministic,     // two runs on the same inputs differ
  oracle_not_recorded,   // no speed-up: the oracle's launch plans are missing
  oracle_not_timed,      // no speed-up: the oracle's run ended in an error
  oracle_block_missing,  // a block of the oracle's samples was dropped
  pytorch_not_timed,     // PyTorch's time is missing
  times_not_trusted,     // no Perf: measured times of the submission contradict each other
  times_all_fresh,       // the times are without the instruction caches of earlier runs
  artifact_too_large,    // from an old stored verdict; see Verdict::artifacts_dropped
};

/// The reason why a device skips a case.
enum class SkipReason {
  other,      // from an old stored verdict, in which skipped cases had no reasons
  too_many,   // there are more cases than one candidate process may run
  dtype,      // the device cannot compute with this dtype
  too_large,  // the device cannot run a case of this size
  reference,  // the device cannot run the case's reference, a kernel of an imported operator
  hidden,     // the case is hidden, so an exact reason would reveal something about it
};

/// The reason why an artifact is not in the store. docs/reference/limits.md lists the limits.
enum class DropReason {
  too_large,    // the artifact is above the limit for one artifact
  job_quota,    // the artifacts of the job are above their limit
  owner_quota,  // the artifacts of a scored run, or of a caller's practice, are above their limit
  store_quota,  // the artifacts of scored runs fill the store
  not_written,  // the store could not write the artifact, for example because the disk is full
};

/// Returns true for an error of Assay or of its machine. An attempt that ends in such an error does
/// not count. Returns false for `cancelled`: the client cancelled the job, so the attempt counts.
bool is_infrastructure_error(ErrorKind kind);
/// Returns true for an error that says nothing about the submission: an infrastructure error,
/// `cancelled` or `reference_error`.
bool is_inconclusive(ErrorKind kind);

std::string_view to_string(JobKind kind);
std::string_view to_string(Outcome outcome);
std::string_view to_string(Tier tier);
std::string_view to_string(Stage stage);
std::string_view to_string(ErrorKind kind);
std::string_view to_string(HintKind kind);
std::string_view to_string(SkipReason reason);
std::string_view to_string(DropReason reason);
std::optional<JobKind> job_kind_from(std::string_view text);
std::optional<Outcome> outcome_from(std::string_view text);
std::optional<Tier> tier_from(std::string_view text);
std::optional<Stage> stage_from(std::string_view text);
std::optional<ErrorKind> error_kind_from(std::string_view text);
std::optional<HintKind> hint_kind_from(std::string_view text);
std::optional<SkipReason> skip_reason_from(std::string_view text);
std::optional<DropReason> drop_reason_from(std::string_view text);

/// The languages of a source: Python (with kernels in the operator's dialect), or CUDA C++
/// (docs/reference/cuda-submissions.md).
inline constexpr std::string_view kPython = "python", kCudaCpp = "cuda";
inline constexpr std::array kLanguages = {kPython, kCudaCpp};
inline constexpr const char* kLanguageNames = "python, cuda";
/// Returns true if an operator of this dialect accepts a submission in this language. Operators of
/// the dialects gluon and tlx accept only their own dialect.
bool takes_language(std::string_view dialect, std::string_view language);

/// One case as the operator's specification declares it. The sandbox does not read spec.toml.
struct CaseRequest {
  std::string id;  // unique in the operator, e.g. "small"
  bool hidden = false;
  bool interpreter = false;  // small enough for the CPU interpreter
  std::map<std::string, std::int64_t> axes;
  std::string dtype;         // "float32", ...
  std::string distribution;  // a name that inputs() in reference.py knows
};

struct Job {
  std::string id;  // handle "job_..."
  // The run to which the job belongs, or empty if there is no run. The tests and profiles of one
  // run share launchers.
  std::string run;
  // The store does not keep the next two members as part of the request.
  std::string caller = {};       // the name of the caller's token; empty: callers have no names
  std::string traceparent = {};  // the span of the call (base/trace_parent.h), or empty
  /// A waiting job of the same caller and run with a lower number runs later. It is not stored.
  int priority = 0;
  /// True if no client waits for the answer, as for an evaluation over HTTP. Such jobs leave the
  /// reserve of a device free. The store does not keep it.
  bool batch = false;
  JobKind kind = JobKind::test;
  std::string operator_name;  // of a check: "check:" and the name of its reference
  std::string operator_dir;   // absolute path; trusted: the judge runs its reference.py
  /// Names the code that several operators of a suite have in common (JudgeQueue), or empty.
  std::string shared_code = {};
  SuiteId suite_id = {};  // the operator's suite; a check has none
  /// Set if the job is a check. Then there is no operator, `operator_dir` is empty, and the job is
  /// never a grade.
  std::optional<CheckReference> reference = {};
  std::string entry;               // name of the entry function
  std::string dialect = "triton";  // triton | gluon | tlx
  std::string language = std::string(kPython);
  /// Python that defines the entry function by a call of the submission's own functions, or empty.
  /// It is the operator's. A candidate executes it behind the source, under a name of its own, so
  /// the source's lines keep their numbers, and an error in it is not in a line of the source.
  std::string adapter = {};
  std::string source;              // UTF-8, untrusted
  std::vector<CaseRequest> cases;  // the verdict names the cases that the device skips
  /// Secret text from which the judge derives the seeds of the first inputs of all cases. Two jobs
  /// with the same text and the same operator get the same first inputs. Empty: fresh seeds.
  std::string input_seed = {};
  // The targets of a compile job, or of a profile that is computed without a run: "cuda:90",
  // "hip:gfx942", ... If the list is empty, the device's own target is used.
  std::vector<std::string> targets;
  Baseline baseline = Baseline::oracle;  // with what Perf compares
  std::string baseline_source;  // the oracle's; if it is needed and empty, there is no Perf
  std::optional<DistantSources> distant_sources = {};  // set if the job comes without sources
  bool want_artifacts = false;          // whether PTX and plans are wanted as artifacts
  bool every_case = false;              // compiles all of `cases`, not only the largest public case
  std::optional<ProfileDetail> detail;  // the view that a profile shows in addition to the summary
  /// Launch plans by case. The device replays them instead of recording `source`. Not persisted:
  /// empty for a job loaded from the store.
  std::map<std::string, std::string> plans;
  Limits limits;
};

struct CaseRecord {
  std::string id;
  bool hidden = false;
  Outcome outcome = Outcome::error;
  /// One sentence for an agent. It is empty if the case passed. If the result is wrong, the
  /// sentence states the number of wrong elements and the first wrong element.
  std::string reason;
  std::optional<double> max_abs_error;  // scaled like the specification's tolerance
  std::optional<double> float64_error;  // the scaled error against a reference in float64
  std::optional<bool> strict_pass;
  std::int64_t elements = 0;
  std::int64_t mismatches = 0;
  std::optional<Mismatch> first_mismatch;
  std::vector<WrongOutput> wrong;  // the outputs that are wrong; empty in older verdicts
  std::string modified;            // the name of an input to which the submission wrote, or empty
  std::optional<Timing> latency;
  std::optional<Timing> baseline_latency;  // the time of Verdict::baseline
  std::optional<double> pytorch_ns, torch_compile_ns;
  std::string torch_compile_unsupported;  // why torch.compile has no time, if it was tried
  std::optional<double> floor_ns;  // minimum time by memory bandwidth and peak arithmetic rate
  double cost_bytes = 0, cost_flops = 0;
  // The times of the plan's operations. The list is empty if the case was not timed or if the plan
  // has too many operations.
  std::vector<OperationTime> timeline;
  std::optional<double> own_share;    // share of the submission's kernels in the timeline, 0..1
  std::optional<bool> deterministic;  // whether two runs on the same inputs gave the same bits
};

/// The resources of one kernel on one target. Most of these values are known without a run.
struct KernelReport {
  std::string name;
  // The kernel's name in the binary, if it differs from `name` (in CUDA C++). A stored verdict does
  // not contain it.
  std::string symbol;
  std::string target;
  std::int64_t num_warps = 0;
  std::int64_t registers = 0;     // per thread
  std::int64_t spill_bytes = 0;   // per thread
  std::int64_t shared_bytes = 0;  // per block
  std::int64_t binary_bytes = 0;
  double occupancy = 0;            // theoretical, 0..1
  std::string occupancy_limiter;   // "registers" | "shared memory" | "warps" | "blocks"
  std::vector<std::int64_t> grid;  // the grid of the kernel's largest recorded launch
  std::int64_t launches = 0;
  double gpu_time_share = 0;  // 0..1; 0 if the case was not timed
};

struct Diagnostic {
  std::string exception;             // Python's class name, e.g. "CompilationError"
  std::string message;               // escaped and limited in length
  std::optional<std::int64_t> line;  // in the submission
  std::string code;                  // text of that line
  std::string traceback;             // only stack frames of the submission
  /// The name of the torch operation or the argument that caused the error. Untrusted.
  std::string subject = {};
  std::string advice = {};  // what to write instead, one sentence or empty; untrusted
};

struct Artifact {
  std::string kind;  // "ptx", "plan", "log", "sass", "source", "timeline", "counters", "sanitizer"
  std::string name;
  std::string bytes;
};

/// An artifact that the job created and that the store did not keep.
struct DroppedArtifact {
  std::string kind, name;  // untrusted
  std::int64_t bytes = 0;
  DropReason reason = DropReason::too_large;

  bool operator==(const DroppedArtifact&) const = default;
};

struct Provenance {
  std::string device;                      // "cpu", "cuda:0"
  std::string device_name;                 // "NVIDIA H200"
  std::string worker = {}, recorder = {};  // of the pool; empty: the server itself, or `worker`
  std::string driver, torch, triton, python, assay;
  std::string nvrtc;                         // only for a source in CUDA C++
  std::map<std::string, std::string> seeds;  // case id -> seed, published after the verdict
  std::vector<std::string> missing_layers;
  SuiteId suite_id;               // the operator's suite; unknown for a check and in old verdicts
  std::string operator_revision;  // SHA-256 of the operator's files
  std::string source_sha256;      // empty when plans were replayed
  // SHA-256 of the replayed plan of each case. Not set if a source was recorded.
  std::optional<std::map<std::string, std::string>> plans;
};

/// A next step or a static finding, for the reader of a verdict.
struct Hint {
  HintKind kind = HintKind::other;
  std::string case_id;  // empty for a hint about the whole submission
  std::string text;     // one sentence, to be shown to an agent

  bool operator==(const Hint&) const = default;
};

/// A group of cases that the device did not run, and the reason.
struct SkippedCases {
  std::vector<std::string> ids;  // of public cases
  std::int64_t hidden = 0;       // number of skipped hidden cases
  SkipReason reason = SkipReason::other;
  std::string text;  // the reason in words: "too large for the interpreter"

  bool operator==(const SkippedCases&) const = default;
};
/// Returns one line for each reason, such as "large, wide, 3 hidden: too large for the
/// interpreter".
std::vector<std::string> lines_of(const std::vector<SkippedCases>& skipped);

struct Verdict {
  std::string job;
  JobKind kind = JobKind::test;
  std::string operator_name;
  std::string language = std::string(kPython);  // language of the source
  Outcome outcome = Outcome::error;
  ErrorKind error_kind = ErrorKind::none;
  Stage stage = Stage::queue;  // the stage at which the job ended
  std::string summary;         // the first line that an agent reads
  std::string detail;          // more about an error, for example the name of a signal
  std::optional<Diagnostic> diagnostic;
  std::vector<CaseRecord> cases;
  std::vector<SkippedCases> skipped_cases;
  std::vector<KernelReport> kernels;
  std::vector<Hint> hints;
  std::vector<Artifact> artifacts;
  std::vector<DroppedArtifact> artifacts_dropped = {};  // the outcome never depends on this list
  std::string stdout_text, stderr_text;  // untrusted and bounded; escape them before showing
  /// True if a process of the submission had received hidden cases before this verdict was
  /// complete. Such a process could reveal hidden cases in every field that it influences. It
  /// cannot influence the records, kernels and hints of public cases. So public_verdict()
  /// (tools/model/public_verdict.h) then shows only these records, kernels and hints.
  bool tells_hidden = true;
  bool reports_shortage = false;  // see JobExecution::tell_shortage
  Tier tier = Tier::none;
  std::string tier_reason;
  std::optional<Profile> profile;            // set if the job is a profile and its kernels compiled
  std::optional<SanitizerReport> sanitizer;  // about the last case that ran under a sanitizer
  /// With what `perf` and each CaseRecord::baseline_latency compare. Absent if nothing is compared,
  /// and in older verdicts, where it is the oracle.
  std::optional<Baseline> baseline;
  // The geometric mean of baseline latency / own latency, over cases that are worth_timing().
  std::optional<double> perf;
  std::map<std::string, double> stage_ms;  // wall-clock time of each stage
  /// Time with the GPU alone (GpuScheduler::Mode exclusive and host). Absent if there was none.
  std::optional<double> gpu_alone_ms;
  std::optional<LaunchFigures> launch;  // set if a launcher was used
  /// The candidate's processor time in stage `run`, for lint. It is not part of the JSON form.
  std::int64_t run_cpu_ms = 0;
  Provenance provenance;
};

}  // namespace assay::sandbox
