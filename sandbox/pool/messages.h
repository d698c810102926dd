// The messages of the sandbox's processes as typed structs (docs/reference/frames.md): the only
// place of the supervisor that reads or writes frame headers.
//
//   Result<CandidateMessage> message = parse_candidate(frame);         // untrusted: every field is
//   checked send_frame(socket, to_header(job), source, fds, deadline);
//
// Pure functions over values. A received struct owns nothing of the frame; descriptors stay in
// Frame::fds.
#pragma once

#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <variant>
#include <vector>

#include "base/result.h"
#include "sandbox/job/job.h"
#include "sandbox/wire/frame.h"

namespace assay::sandbox {

/// A tensor in a memory file, or only described; or a scalar.
struct Argument {
  std::string name;
  bool is_tensor = true;
  std::string dtype;
  std::vector<std::int64_t> shape, strides;  // strides in elements
  std::optional<std::int64_t> fd;            // index into the frame's descriptors; none: no bytes
  std::int64_t offset = 0, nbytes = 0;       // of its bytes in the memory file
  std::string scalar_type;                   // int | float | bool
  std::variant<std::int64_t, double, bool> value;
};

// ---- zygote ----
struct Versions {
  std::string torch, triton, python;
  std::string nvrtc;  // of a zygote; empty where there is none
};
struct ZygoteReady {
  Versions versions;
  std::vector<Layer> layers;
};
struct ForkRequest {
  int slot = 0;
  bool strict = false;
  std::int64_t tmp_bytes = 0, processes = 0,
               data_bytes = 0;  // data_bytes 0: a cgroup limits memory
  int niceness = 0;
  std::vector<std::string> devices;  // device files of a GPU, which the child may use
};
/// How a process ended, as the kernel tells its parent.
struct ExitStatus {
  enum class How { exited, killed, dumped } how = How::exited;
  int value = 0;  // exit status or signal

  bool by_signal() const { return how != How::exited; }
};
struct Forked {
  int slot = 0;
};
struct Exited {
  int slot = 0;
  ExitStatus status;
};
using ZygoteMessage = std::variant<ZygoteReady, Forked, Exited>;

struct PreparedOutput {
  std::string name, dtype, from;
  std::vector<std::int64_t> shape;
  std::int64_t nbytes = 0;
};

// ---- candidate ----
struct CandidateCase {
  std::string id;
  std::vector<Argument> arguments;
  std::vector<std::string> structural, inout;
  std::vector<std::string>
      output_from;  // per output: an inout argument's name, or empty when returned
  std::int64_t output_fd = -1, output_bytes = 0;
  std::map<std::string, std::int64_t> axes;    // those that shapes are made of; CUDA C++ only
  std::vector<PreparedOutput> output_tensors;  // host, and CUDA C++
};
enum class CandidateMode {
  interpret,
  ablate,  // interpret, with launches that do nothing
  record,
  host,         // with the GPU
  disassemble,  // the payload is a launch plan: its binaries as text, in artifacts
};
/// What a host job has besides.
struct HostAccess {
  std::string device;          // "cuda", or "cpu" in tests
  bool ablated = false;        // launches do nothing
  std::int64_t rounds_fd = 0;  // the line to the judge, as an index into the frame's descriptors
  std::int64_t gpu_memory_bytes = 0;
};
struct CandidateJob {
  CandidateMode mode = CandidateMode::interpret;
  std::string entry, dialect, target;
  bool artifacts = false;
  bool alternatives = false;  // every configuration of an autotuner, not only the first
  std::vector<CandidateCase> cases;
  std::optional<HostAccess> host = {};
  std::string language = std::string(kPython);
  std::int64_t import_wall_ms = 0, run_wall_ms = 0;  // after a little less of which it stops by
                                                     // itself, and says where; 0: it does not
};
struct Parked {
  std::vector<Layer> layers;
};
struct Imported {};
struct CaseDone {
  std::string id;
  std::vector<Argument> outputs;      // interpret
  std::vector<KernelReport> kernels;  // record
  std::string plan;                   // record: the frame's payload
};
struct CandidateError {
  Stage stage = Stage::run;
  ErrorKind kind = ErrorKind::other_exception;
  Diagnostic diagnostic;
  std::string case_id;
};
struct Done {};
using CandidateMessage = std::variant<Parked, Imported, CaseDone, Artifact, CandidateError, Done>;

// ---- judge ----
struct JudgeReady {
  Versions versions;
  std::string device_name;
};
/// Where a case lies in the device memory that judge and launcher share.
struct DevicePlaces {
  std::map<std::string, std::int64_t> inputs;  // offset of each tensor argument
  std::int64_t output_offset = 0;              // of the room for outputs
};
struct PreparedCase {
  std::string id, seed;
  std::vector<Argument> arguments;  // fd: index into the frame's descriptors
  std::vector<std::string> structural, inout;
  std::map<std::string, std::int64_t> axes;  // those that shapes are made of
  std::vector<PreparedOutput> outputs;
  std::int64_t output_bytes = 0;  // room for outputs, those of a wrong, wider type included: the
                                  // judge shall see and name them
  std::optional<DevicePlaces> device;
  double cost_bytes = 0, cost_flops = 0;
};
struct DeviceMemory {
  std::int64_t fd = 0, bytes = 0;  // the handle, as an index into the frame's descriptors
};
struct Prepared {
  std::vector<PreparedCase> cases;
  std::optional<DeviceMemory> device;
};
struct Compared {
  ErrorKind kind = ErrorKind::none;  // none, wrong_result, output_mismatch
  CaseRecord record;                 // numerics, outcome and reason
};

/// What the judge saw of a case on the host tier.
struct HostJudged {
  enum class Broken { no, ended, late, protocol, memory } broken = Broken::no;
  std::string message;           // of a broken conversation
  Compared compared;             // else
  std::optional<Timing> timing;  // wall clock per call
  std::string seed;              // of the first round
};
/// Whether outputs that are right are the work of the submission's kernels.
struct Attributed {
  bool ok = false;
  std::string reason;  // why not
};

struct LintCheck {
  std::string case_id;  // empty: about the operator as a whole
  std::string check, detail;
  bool ok = false;
  bool mutant = false;  // it asks whether a wrong answer is rejected
};

// ---- launcher ----
struct LauncherDevice {
  std::string name, target, driver, cc;
  std::int64_t sms = 0, l2_bytes = 0, memory_bytes = 0, clock_khz = 0;
  double bandwidth_bytes_per_s = 0;
  std::vector<Layer> layers;  // of the launcher's jail
};
/// How one block of samples is taken.
struct TimedBlock {
  std::int64_t min_samples = 10, max_samples = 40, max_time_ms = 120, warm_up_ms = 20,
               side_samples = 3;
};
struct LaunchRequest {
  std::string case_id;
  std::vector<Argument> inputs;  // tensors; fd as an index into the frame's descriptors
  std::int64_t output_fd = 0, output_offset = 0, output_bytes = 0;
  std::int64_t device_bytes = 0;  // 0: the descriptors are memory files
  std::optional<TimedBlock> time;
  // The alternative of each tunable, as an earlier launch chose it. Empty: the launcher chooses.
  std::vector<std::int64_t> chosen;
  std::set<std::string> inout;  // inputs that the plan may write to
  bool ablated = false;         // without the submission's kernels
  bool inspect = false;         // when timed: also its timeline, and whether it is deterministic
  bool stage_next_inputs =
      false;  // when timed: the inputs change between warm-up and samples (LauncherClient::launch)
  std::int64_t gpu_memory_bytes = 0;
};
struct Launched {
  std::vector<Argument> outputs;
  std::vector<KernelReport>
      kernels;                       // name, registers, spill_bytes (local), shared_bytes, launches
  std::vector<std::int64_t> chosen;  // the alternative of each tunable
  std::vector<std::string>
      modified;            // inputs that it wrote to and may not; known when it was not timed
  std::int64_t moves = 0;  // operations that only move data, which may do a kernel's work
  std::optional<Timing> timing;
  std::vector<OperationTime> timeline;  // with `inspect`
  std::optional<bool> deterministic;
};
struct LaunchFailure {
  ErrorKind kind = ErrorKind::internal_error;
  std::string message;
};

Result<ZygoteMessage> parse_zygote(const Frame& frame);
Result<CandidateMessage> parse_candidate(Frame& frame);  // takes the payload out of it
Result<JudgeReady> parse_judge_ready(const Frame& frame);
Result<Prepared> parse_prepared(const Frame& frame);
Result<Compared> parse_compared(const Frame& frame);
Result<HostJudged> parse_host_judged(const Frame& frame);
Result<Attributed> parse_attributed(const Frame& frame);
Result<std::vector<double>> parse_timed_reference(const Frame& frame);
/// The new seed; empty when the case kept its inputs.
Result<std::string> parse_refreshed(const Frame& frame);
Status parse_settled(const Frame& frame);
Result<std::vector<LintCheck>> parse_linted(const Frame& frame);
Result<LauncherDevice> parse_launcher_ready(const Frame& frame);
Result<Launched> parse_launched(const Frame& frame);
Result<LaunchFailure> parse_launch_failure(const Frame& frame);
/// A `judge_error`.
struct JudgeComplaint {
  std::string message;
  bool lost =
      false;  // its CUDA context is broken for good: nothing that it is asked from now on can work
};
JudgeComplaint parse_judge_error(const Frame& frame);
/// Whether a judge's reply belongs to this request; `case_id` may be empty.
bool answers(const Frame& frame, const std::string& job, const std::string& case_id);

nlohmann::json to_header(const ForkRequest& request);
nlohmann::json to_header(const CandidateJob& job);
nlohmann::json to_header(const LaunchRequest& request);
nlohmann::json prepare_header(const Job& job, const std::string& device, bool structural_only);
/// `on_device`: the outputs lie in the shared device memory, not in a file that goes with the
/// frame. `keep`: outputs on the device, of which attribute_kept_header() is going to ask whose
/// they are.
nlohmann::json compare_header(const std::string& job, const std::string& case_id,
                              const std::vector<Argument>& outputs, bool on_device, bool keep);
/// Goes with two files: the outputs, and those of the run without kernels.
nlohmann::json attribute_header(const std::string& job, const std::string& case_id,
                                const std::vector<Argument>& outputs,
                                const std::vector<Argument>& without);
/// The outputs were kept; those of the run without kernels have taken their place in the shared
/// device memory.
nlohmann::json attribute_kept_header(const std::string& job, const std::string& case_id,
                                     const std::vector<Argument>& without);
/// New inputs for a case whose inputs lie in shared device memory.
nlohmann::json refresh_header(const std::string& job, const std::string& case_id);
nlohmann::json settle_header(const std::string& job);
nlohmann::json time_reference_header(const std::string& job, const std::string& case_id);
/// The line to the candidate goes with the frame. `round_ms`: how long one round may take.
/// `gpu_memory_bytes`: what the candidate may hold.
nlohmann::json host_case_header(const std::string& job, const std::string& case_id, bool time,
                                std::int64_t round_ms, std::int64_t gpu_memory_bytes);
nlohmann::json lint_header(const std::string& operator_dir, const std::string& device,
                           const std::vector<CaseRequest>& cases, std::uint32_t seed);
nlohmann::json release_header(const std::string& job);

}  // namespace assay::sandbox
