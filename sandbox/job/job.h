// The contract of the sandbox: a Job goes in, a Verdict comes out. Plain structs, no behaviour, no
// JSON, no pointers.
//
//   Job job;
//   job.kind = JobKind::test;
//   job.operator_name = "vector_add";
//   job.source = "...";
//   Verdict verdict = device.execute(job, monitor);
//
// A Verdict is positive evidence: status `pass` needs one complete, passing CaseRecord for every
// case of the job. Silence, an early exit, half a frame or a second result is an error. Only the
// judge writes the numerics of a CaseRecord. The JSON form (documented in
// docs/reference/verdict.md, versioned by kVerdictFormatName) lives in tools/json/verdict_json.h.
// These structs are values: copy and move them freely between threads, never share one mutably.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sandbox/job/profile.h"

namespace assay::sandbox {

enum class JobKind {
  compile,  // compile and record for `targets`; nothing runs on a device
  test,     // public cases, fresh seeds
  profile,  // one case, timed or analysed
  grade,    // public and hidden cases, timed where the device can; the scored kind
};

enum class Outcome { pass, fail, error };

/// How far a verdict can be trusted, best first. `none`: nothing ran (a compile job, an early
/// error).
enum class Tier { plan, host, interpreter, none };

/// Where in a job's life it ended. In the order in which a job passes through them.
enum class Stage { queue, import, compile, record, launch, run, judge, baseline, recheck, done };

/// Closed list. tools/model/outcome_names.h maps each to a TritonBench error type and group.
enum class ErrorKind {
  none,
  // raised by the submission's Python (TritonBench's own names)
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
  compilation_error,  // Triton, LLVM, ptxas or NVRTC refused a kernel
  other_exception,    // a Python exception outside that list; `exception` has its name
  // wrong answers
  missing_entry,    // the source does not define the operator's entry function
  output_mismatch,  // wrong number, dtype or shape of outputs
  wrong_result,     // numerics outside the tolerance (TritonBench: ResultsError)
  unattributed,     // right, but not by the submission's own kernels
  // limits
  timeout,
  memory_limit,
  process_limit,
  output_limit,
  disk_limit,
  gpu_memory_limit,
  // process and protocol
  crash,           // killed by a signal; `detail` names it
  protocol_error,  // ended without a complete record, or sent a malformed or second one
  // the device
  invalid_plan,      // the launch plan failed validation
  not_recordable,    // needs the host tier; `detail` names the operation and line
  launch_failure,    // the driver refused a launch
  gpu_fault,         // illegal address, device assert, misaligned access
  canary_violation,  // wrote outside its buffers; in the interpreter: read or wrote
  floor_violation,   // faster than physics allows
  unsupported,  // this device cannot do it (a Hopper dialect on the CPU); `detail` says what would
  // ours
  cancelled,
  aborted,
  device_unhealthy,  // the device fails its own checks; `detail` says how
  internal_error,
};

/// The kinds of hints. Redaction and reports decide on the kind and never on the text.
enum class HintKind {
  other,                 // of a verdict from before hints had kinds
  would_be_slow,         // most of the GPU would be idle
  spills,                // a kernel spills registers
  low_occupancy,         // a kernel leaves too few warps to hide latency
  many_launches,         // launch overhead dominates
  no_own_kernel,         // compiled, and launches no kernel of the submission
  not_recorded,          // no resource figures; the text quotes the submission's error
  unattributed_run,      // the host tier could not tell whose work the outputs are
  not_deterministic,     // two runs on the same inputs differ
  oracle_not_recorded,   // no speed-up: the oracle's launch plans are missing
  oracle_not_timed,      // no speed-up: the oracle's run ended in an error
  oracle_block_missing,  // a block of the oracle's samples was dropped
  pytorch_not_timed,     // PyTorch's time is missing
  artifact_too_large,    // an artifact above the limit of the store was dropped
};

/// Why a device leaves out a case.
enum class SkipReason {
  other,      // of a verdict from before reasons had kinds
  too_many,   // more cases than one candidate process runs
  dtype,      // the device cannot compute with this type
  too_large,  // the device cannot run a case of this size
  hidden,     // not told apart, because the reason would describe the hidden cases
};

/// Errors of Assay or of its machine. The submission is not to blame, and the attempt does not
/// count. `cancelled` is not one of them: the client asked for it, so the attempt counts.
bool is_infrastructure_error(ErrorKind kind);
/// Errors that tell nothing about the submission: every infrastructure error, and `cancelled`,
/// which ends a job before its answer is known.
bool is_inconclusive(ErrorKind kind);

std::string_view to_string(JobKind kind);
std::string_view to_string(Outcome outcome);
std::string_view to_string(Tier tier);
std::string_view to_string(Stage stage);
std::string_view to_string(ErrorKind kind);
std::string_view to_string(HintKind kind);
std::string_view to_string(SkipReason reason);
std::optional<JobKind> job_kind_from(std::string_view text);
std::optional<Outcome> outcome_from(std::string_view text);
std::optional<Tier> tier_from(std::string_view text);
std::optional<Stage> stage_from(std::string_view text);
std::optional<ErrorKind> error_kind_from(std::string_view text);
std::optional<HintKind> hint_kind_from(std::string_view text);
std::optional<SkipReason> skip_reason_from(std::string_view text);

/// What a source is written in: Python with kernels in the operator's dialect, or CUDA C++
/// (docs/reference/cuda-submissions.md).
inline constexpr std::string_view kPython = "python", kCudaCpp = "cuda";
inline constexpr std::array kLanguages = {kPython, kCudaCpp};
inline constexpr const char* kLanguageNames = "python, cuda";
/// Whether a source in this language can be a submission for an operator of this dialect: those of
/// gluon and tlx are about their dialect.
bool takes_language(std::string_view dialect, std::string_view language);

/// Every limit of a job, by name and unit. The defaults are the documented ones
/// (docs/reference/limits.md).
struct Limits {
  std::int64_t import_wall_ms = 10'000;
  std::int64_t run_wall_ms = 60'000;     // compile, record and interpreter together, after import
  std::int64_t launch_wall_ms = 20'000;  // the launcher's whole work for one case
  std::int64_t judge_wall_ms = 120'000;
  std::int64_t memory_bytes = 4LL << 30;  // candidate: cgroup where there is one, else RLIMIT_DATA
  std::int64_t gpu_memory_bytes = 32LL << 30;
  std::int64_t processes = 64;
  std::int64_t cpu_percent =
      400;  // of one processor, over all of the candidate's processes: cgroup, where there is one
  std::int64_t tmp_bytes = 256LL << 20;
  std::int64_t stdout_bytes = 64LL
                              << 10;  // kept head and tail, together; of stdout and stderr each
  std::int64_t output_flood_bytes = 64LL << 20;  // past this the job ends with output_limit
  std::int64_t source_bytes = 1LL << 20;
};

/// One case as the spec declares it; the sandbox does not read spec.toml.
struct CaseRequest {
  std::string id;  // unique in the operator, e.g. "small"
  bool hidden = false;
  bool interpreter = false;  // small enough for the CPU interpreter
  std::map<std::string, std::int64_t> axes;
  std::string dtype;         // "float32", ...
  std::string distribution;  // name that reference.py's inputs() understands
};

struct Job {
  std::string id;   // handle "job_..."
  std::string run;  // of which it is a part: its tests and profiles share launchers; empty: of
                    // none. A stored job has its own
  JobKind kind = JobKind::test;
  std::string operator_name;
  std::string operator_dir;        // absolute; trusted; the judge reads reference.py there
  std::string entry;               // the entry function's name
  std::string dialect = "triton";  // triton | gluon | tlx
  std::string language = std::string(kPython);
  std::string source;              // UTF-8, untrusted
  std::vector<CaseRequest> cases;  // in order; the device may skip those it cannot run, and says so
  std::vector<std::string> targets;     // compile, and profile without running: "cuda:90",
                                        // "hip:gfx942", ...; empty: the device's own
  std::string baseline_source;          // the oracle, for profile and grade; empty: no speed-up
  bool want_artifacts = false;          // PTX, plans
  bool every_case = false;              // compile: all of `cases`, not only the largest public one
  std::optional<ProfileDetail> detail;  // profile: what to show besides the summary
  /// Case -> a launch plan that was recorded before, to be replayed instead of recording `source`.
  /// Of one process: a stored job has none.
  std::map<std::string, std::string> plans;
  /// Cases that profile and grade time; empty: those worth it (sandbox/job/verdict_builder.h). Of
  /// one process, as above.
  std::vector<std::string> timed_cases;
  Limits limits;
};

struct Mismatch {
  std::string output;  // name of the output
  std::vector<std::int64_t> index;
  double expected = 0;
  double actual = 0;
};

/// Time of one kernel sequence, nanoseconds: device time with a cold cache; on the host tier wall
/// clock.
struct Timing {
  double median_ns = 0;
  double low_ns = 0;  // 95 % confidence interval of the median
  double high_ns = 0;
  std::vector<double> samples_ns;  // raw, in the order taken, without the discarded ones
  double warm_ns = 0;              // median right after a run of the same; 0: not measured
  double first_run_ns =
      0;  // median of samples that were the first run on their inputs; 0: not known
  double wall_ns =
      0;  // median from queueing to the end of the wait, by the host's clock; 0: not measured
  double overhead_ns = 0;      // of the timer's marks; taken off already
  double clock_mhz = 0;        // median of the multiprocessors' clock meanwhile; 0: not measured
  std::int64_t discarded = 0;  // samples at a clock clearly under that
  double age_ms =
      0;  // how long before the job they were taken: an oracle's, in a profile; 0: in the job
};

/// One operation of a launch plan, in the company of those before it, with cold caches.
struct OperationTime {
  std::string name;        // the kernel's, "copy" or "fill"
  bool submitted = false;  // a kernel of the submission's, not what moves data for torch
  double ns = 0;
};

struct CaseRecord {
  std::string id;
  bool hidden = false;
  Outcome outcome = Outcome::error;
  /// One sentence for an agent, empty on a pass. Of a wrong result it names the number of wrong
  /// elements and the first of them.
  std::string reason;
  std::optional<double> max_abs_error;  // scaled as the spec's tolerance says
  std::optional<double> float64_error;  // max abs error against a float64 reference, same scale
  std::optional<bool> strict_pass;
  std::int64_t elements = 0;
  std::int64_t mismatches = 0;
  std::optional<Mismatch> first_mismatch;
  std::string modified;  // the input that was written to and must not be; empty: none
  std::optional<Timing> latency;
  std::optional<Timing> baseline_latency;  // the oracle
  std::optional<double> pytorch_ns;
  std::optional<double> floor_ns;  // physics: bytes / bandwidth, flops / peak
  double cost_bytes = 0;
  double cost_flops = 0;
  std::vector<OperationTime>
      timeline;  // of its plan, in order; empty: not timed, or too many operations
  std::optional<double> own_share;    // 0..1 of the timeline: the submission's kernels
  std::optional<bool> deterministic;  // the same bits for the same inputs twice
};

/// What is known of a kernel without running it, per target.
struct KernelReport {
  std::string name;
  std::string
      symbol;  // its name in the image, where that is another (C++); not part of a stored verdict
  std::string target;
  std::int64_t num_warps = 0;
  std::int64_t registers = 0;     // per thread
  std::int64_t spill_bytes = 0;   // per thread
  std::int64_t shared_bytes = 0;  // per block
  std::int64_t binary_bytes = 0;
  double occupancy = 0;            // theoretical, 0..1
  std::string occupancy_limiter;   // "registers" | "shared memory" | "warps" | "blocks"
  std::vector<std::int64_t> grid;  // of its largest recorded launch
  std::int64_t launches = 0;
  double gpu_time_share = 0;  // 0..1, where it was timed
};

struct Diagnostic {
  std::string exception;             // Python's class name, e.g. "CompilationError"
  std::string message;               // escaped, bounded
  std::optional<std::int64_t> line;  // in the submission
  std::string code;                  // that line's text
  std::string traceback;             // submission frames only
  /// The name that the error is about: torch's operation, or the argument. Untrusted.
  std::string subject = {};
};

struct Artifact {
  std::string kind;  // "ptx", "plan", "log", "sass", "source", "timeline", "counters"
  std::string name;
  std::string bytes;
};

struct Layer {
  std::string name;  // as in docs/explanation/sandbox.md
  bool active = false;
  std::string detail;  // why not
};

struct Provenance {
  std::string device;       // "cpu", "cuda:0"
  std::string device_name;  // "NVIDIA H200"
  std::string driver, torch, triton, python, assay;
  std::string nvrtc;                         // of a source in CUDA C++
  std::map<std::string, std::string> seeds;  // case id -> seed, published after the verdict
  std::vector<std::string> missing_layers;
  std::string operator_revision;  // SHA-256 of the operator's files
  std::string source_sha256;      // empty: plans were replayed
  std::optional<std::map<std::string, std::string>>
      plans;  // case -> SHA-256 of the stored plan that was replayed; none: a source was recorded
};

/// A next step or a static finding, for the reader of a verdict.
struct Hint {
  HintKind kind = HintKind::other;
  std::string case_id;  // the case that it is about; empty: the whole submission
  std::string text;     // one sentence, to show

  bool operator==(const Hint&) const = default;
};

/// Cases that the device did not run, and why.
struct SkippedCases {
  std::vector<std::string> ids;  // by name
  std::int64_t hidden = 0;       // hidden cases that are counted and not named
  SkipReason reason = SkipReason::other;
  std::string text;  // why, to show: "too large for the interpreter"

  bool operator==(const SkippedCases&) const = default;
};
/// The lines that a reader sees: "large: too large for the interpreter", "3 hidden: too large".
std::vector<std::string> lines_of(const SkippedCases& skipped);

struct Verdict {
  std::string job;
  JobKind kind = JobKind::test;
  std::string operator_name;
  std::string language = std::string(kPython);  // of the source
  Outcome outcome = Outcome::error;
  ErrorKind error_kind = ErrorKind::none;
  Stage stage = Stage::queue;  // where it ended
  std::string summary;         // first line an agent reads
  std::string detail;          // more of it, e.g. the signal's name
  std::optional<Diagnostic> diagnostic;
  std::vector<CaseRecord> cases;
  std::vector<SkippedCases> skipped_cases;
  std::vector<KernelReport> kernels;
  std::vector<Hint> hints;
  std::vector<Artifact> artifacts;
  std::string stdout_text, stderr_text;  // untrusted, bounded, escaped where shown
  Tier tier = Tier::none;
  std::string tier_reason;
  std::optional<Profile> profile;  // of a profile job that got as far as compiled kernels
  std::optional<double>
      perf;  // geometric mean of oracle / submission latency over the cases worth timing
  std::map<std::string, double> stage_ms;  // wall time per stage
  Provenance provenance;
};

}  // namespace assay::sandbox
