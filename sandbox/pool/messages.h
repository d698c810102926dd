// Defines the messages of the zygote, the candidate and the judge as typed structs
// (docs/reference/frames.md). Only the functions of this file read and write the headers of these
// messages. The launcher's messages are in sandbox/wire/launch_request.h and launch_reply.h,
// because the launcher uses them too.
//
//   Result<CandidateMessage> message = parse_candidate(frame);  // checks every field
//   Status sent = send_frame(socket, to_header(job), source, fds, deadline);
//
// Pure functions. The descriptors of a received frame stay in Frame::fds. The structs refer to
// descriptors by their index in Frame::fds.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/exit_status.h"
#include "base/json.h"
#include "base/result.h"
#include "sandbox/jail/layer.h"
#include "sandbox/job/job.h"
#include "sandbox/pool/versions.h"
#include "sandbox/wire/argument.h"
#include "sandbox/wire/frame.h"

namespace assay::sandbox {

// Messages of the zygote.
struct ZygoteReady {
  Versions versions;
  std::vector<LayerReport> layers;
};
struct ForkRequest {
  int slot = 0;
  bool strict = false;
  std::int64_t tmp_bytes = 0, processes = 0;
  std::int64_t data_bytes = 0;  // memory limit; 0 if a cgroup limits memory
  int niceness = 0;
  std::vector<std::string> devices;  // device files of a GPU that the child may use
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

// Messages between the supervisor and a candidate.
struct CandidateCase {
  std::string id;
  std::vector<Argument> arguments;
  std::vector<std::string> structural, inout;
  /// For each output, the name of the inout argument that becomes the output. The name is empty if
  /// the entry function returns the output.
  std::vector<std::string> output_from;
  std::int64_t output_fd = -1, output_bytes = 0;
  // The axes that occur in the shapes. Only cases for CUDA C++ have them.
  std::map<std::string, std::int64_t> axes;
  std::vector<PreparedOutput> output_tensors;  // set only for host jobs and for CUDA C++
};
enum class CandidateMode {
  interpret,
  ablate,   // like interpret, but the outputs lack the results of the kernels
  reorder,  // like interpret, but the programs of a grid run in reverse order
  record,
  host,         // runs with access to the GPU
  disassemble,  // turns the binaries of the launch plan in the payload into text artifacts
};
/// The fields that only a host job has.
struct HostAccess {
  std::string device;          // "cuda", or "cpu" in tests
  bool ablated = false;        // also returns the outputs without the results of the kernels
  bool idle = false;           // launches of kernels do nothing
  std::int64_t rounds_fd = 0;  // index of the socket to the judge in the frame's descriptors
  std::int64_t gpu_memory_bytes = 0;
};
struct CandidateJob {
  CandidateMode mode = CandidateMode::interpret;
  std::string entry, dialect, target;
  bool artifacts = false;
  // If true, every autotuner configuration is recorded. Otherwise only the first configuration is
  // recorded.
  bool alternatives = false;
  std::optional<HostAccess> host = {};
  std::string language = std::string(kPython);
  std::string adapter = {};  // Job::adapter
  /// The time limit of the import, in milliseconds; 0 means no limit. The candidate stops itself
  /// shortly before this limit.
  std::int64_t import_wall_ms = 0;
};
/// A batch of cases, which the supervisor sends to the candidate after the import.
struct CandidateBatch {
  std::vector<CandidateCase> cases;
  bool last = true;  // no other batch follows
  /// The time limit of the batch, in milliseconds; 0 means no limit. The candidate stops itself
  /// shortly before this limit and reports the case that was running.
  std::int64_t run_wall_ms = 0;
};
struct Parked {
  std::vector<LayerReport> layers;
};
/// The candidate sends this message before any code of the submission runs.
struct SourceParsed {};
struct Imported {};
struct CaseDone {
  std::string id;
  std::vector<Argument> outputs;  // only in mode interpret
  // Only in mode interpret. True if torch, and not a kernel, determined the order of the elements
  // of an output.
  bool reordered = false;
  std::vector<KernelReport> kernels;  // only in mode record
  std::string plan;                   // only in mode record; the frame's payload
  // Only in mode record: the configurations of autotuners that the plan lacks because there was no
  // time to compile them, or because the assembler failed.
  std::int64_t left_out = 0;
};
struct CandidateError {
  Stage stage = Stage::run;
  ErrorKind kind = ErrorKind::other_exception;
  Diagnostic diagnostic;
  /// The errno of a system call that failed, if the exception has one.
  std::optional<std::int64_t> system_error = std::nullopt;
  /// The number of the GPU's error, if torch's exception has one.
  std::optional<std::int64_t> device_error = std::nullopt;
  std::string case_id;
};
struct Done {};
using CandidateMessage =
    std::variant<Parked, SourceParsed, Imported, CaseDone, Artifact, CandidateError, Done>;

// Messages between the supervisor and a judge.
struct JudgeReady {
  std::string torch;  // the version
  std::string device_name;
};
/// The offsets of a case in the device memory that the judge and the launcher share.
struct DevicePlaces {
  std::map<std::string, std::int64_t> inputs;  // offset of each tensor argument, in bytes
  std::int64_t output_offset = 0;              // offset of the outputs, in bytes
};
struct PreparedCase {
  std::string id, seed;
  // True if this struct is the same for every seed, because no value in it depends on the seed.
  bool fixed = false;
  std::vector<Argument> arguments;  // Argument::fd is an index into the frame's descriptors
  std::vector<std::string> structural, inout;
  std::map<std::string, std::int64_t> axes;  // the axes that occur in the shapes
  std::vector<PreparedOutput> outputs;
  /// The size of the memory for outputs, in bytes. The memory is large enough even for outputs of a
  /// wrong, wider dtype. So the judge can read such outputs and name their dtype in the error.
  std::int64_t output_bytes = 0;
  std::optional<DevicePlaces> device;
  double cost_bytes = 0, cost_flops = 0;
  // True if the operator only changes the order of elements (family `layout`).
  bool is_layout = false;
};
/// Returns true if each tensor of a case has a place: in device memory, which only a job with
/// device memory may have, or in a memory file. Without device memory, a case that is only
/// described has no files.
inline bool has_memory(const PreparedCase& one, bool job_has_device) {
  if (!job_has_device || one.device) return job_has_device || !one.device;
  return std::all_of(one.arguments.begin(), one.arguments.end(),
                     [](const Argument& argument) { return !argument.is_tensor || argument.fd; });
}
struct DeviceMemory {
  // `fd` is the index of the memory's handle in the frame's descriptors.
  std::int64_t fd = 0, bytes = 0;
  std::uint64_t id = 0;  // no other memory that this process has ever got has the same number
};
struct Prepared {
  std::vector<PreparedCase> cases;
  std::optional<DeviceMemory> device;
};
/// Says which cases of a job get memory files, even if the judge can share device memory.
struct HostCases {
  std::int64_t bytes = 0;  // the most bytes of the inputs and outputs of such a case
  /// The cases that need device memory, because Judge::refresh() will replace their inputs.
  std::vector<std::string> except = {};
};
struct Compared {
  ErrorKind kind = ErrorKind::none;  // none, wrong_result or output_mismatch
  CaseRecord record;                 // with id, outcome, reason and the numerical results
};

/// The settings for the rounds of a case. The judge runs these rounds with a candidate that has
/// access to the GPU.
struct HostRounds {
  int line = -1;      // the socket that connects the judge with the candidate
  bool time = false;  // whether timed rounds follow
  // Whether the candidate also returns its outputs without the results of its kernels. Then no
  // timed rounds follow.
  bool attribute = false;
  // Whether the judge frees the device memory that it shares with launchers. Then no launch of this
  // job may follow.
  bool free_buffers = false;
  std::int64_t gpu_memory_bytes = 0;  // how much of the GPU's memory the candidate may use
};

/// The judge's result for a case of the host tier.
struct HostJudged {
  enum class Broken { no, ended, late, protocol, memory } broken = Broken::no;
  // If not empty, the protocol was broken, and the other fields are unset, except `others_bytes`.
  std::string message;
  // Only for Broken::memory: what others than the judge held of the GPU's memory.
  std::int64_t others_bytes = 0;
  Compared compared;             // the result of the comparison
  std::optional<Timing> timing;  // wall-clock time of one call
  std::string seed;              // the seed of the first round
  // How the judge knows that the submission's kernels did not compute the outputs. It is empty if
  // they did, if the outputs are wrong, or if the judge was not asked.
  std::string unattributed;
  bool needs_no_kernel = false;  // the right outputs of an imported operator equal its arguments
};
/// The memory of a GPU, and how much of it each side holds. A judge counts it. All numbers are 0 if
/// the judge has no GPU.
struct DeviceRoom {
  std::int64_t total_bytes = 0;
  std::int64_t own_bytes = 0;            // the judge's, now or while the job's candidate worked
  std::int64_t others_bytes = 0;         // contexts and all other processes, now
  std::int64_t others_before_bytes = 0;  // the same before the job's candidate started
};
/// Tells whether the submission's kernels produced the outputs.
struct Attributed {
  bool ok = false;
  std::string reason;  // why `ok` is false
};

struct LintCheck {
  std::string case_id;  // empty if the check is about the whole operator
  std::string check, detail;
  bool ok = false;
  bool mutant = false;  // whether the check expects that the judge rejects a wrong answer
};

/// The time of one case of an operator's reference that torch.compile has compiled.
struct CompiledTime {
  std::string case_id;
  std::optional<double> ns;  // median; empty if there is no time
  std::string unsupported;   // the reason why there is no time; one line

  bool operator==(const CompiledTime&) const = default;
};

Result<ZygoteMessage> parse_zygote(const Frame& frame);
/// Parses a candidate's message. Moves the payload out of the frame.
Result<CandidateMessage> parse_candidate(Frame& frame);
Result<JudgeReady> parse_judge_ready(const Frame& frame);
Result<Prepared> parse_prepared(const Frame& frame);
Result<Prepared> parse_described(const Frame& frame);
Result<Compared> parse_compared(const Frame& frame);
Result<HostJudged> parse_host_judged(const Frame& frame);
Result<Attributed> parse_attributed(const Frame& frame);
Result<std::vector<double>> parse_timed_reference(const Frame& frame);
Result<CompiledTime> parse_timed_compiled(const Frame& frame);
/// Returns the new seed, or an empty string if the case has kept its inputs.
Result<std::string> parse_refreshed(const Frame& frame);
/// Returns false if the judge had no room for the outputs.
Result<bool> parse_was_set_aside(const Frame& frame);
Status parse_referenced(const Frame& frame);
Status parse_settled(const Frame& frame);
Result<DeviceRoom> parse_freed(const Frame& frame);
Result<std::vector<LintCheck>> parse_linted(const Frame& frame);
/// Returns the error of a `judge_error`. Its code is unavailable if the judge's CUDA context is
/// broken, so that every later request will fail; resource_exhausted if the device has too little
/// free memory; unsupported if the operator needs a GPU and the judge has none; reference if the
/// reference of a check failed; otherwise internal.
Error parse_judge_error(const Frame& frame);
/// Returns true if the frame is a judge's reply to a request about this job and case. `case_id` may
/// be empty.
bool answers(const Frame& frame, const std::string& job, const std::string& case_id);

/// Returns the header of a candidate's message about a recorded case. The payload is `done.plan`.
nlohmann::json to_header(const CaseDone& done);
nlohmann::json to_header(const ForkRequest& request);
nlohmann::json to_header(const CandidateJob& job);
nlohmann::json to_header(const CandidateBatch& batch);
/// Builds a request for the cases' descriptions, which parse_described() reads from the reply.
nlohmann::json describe_header(const Job& job, bool without_inputs);
nlohmann::json prepare_header(const Job& job, const std::string& device, const HostCases& host);
/// Builds a request to compare outputs with the reference. If `on_device` is true, the outputs are
/// in the shared device memory. Otherwise their memory file is sent with the frame. If `keep` is
/// set and the outputs are in device memory, the judge keeps a copy of them for
/// attribute_kept_header().
nlohmann::json compare_header(const std::string& job, const std::string& case_id,
                              const std::vector<Argument>& outputs, bool on_device, bool keep);
/// Builds an attribution request. Two memory files are sent with the frame: first the outputs of
/// the full run, then the outputs of the run without kernels.
nlohmann::json attribute_header(const std::string& job, const std::string& case_id,
                                const std::vector<Argument>& outputs,
                                const std::vector<Argument>& without);
/// Builds an attribution request for outputs of which the judge has kept a copy. The copy is needed
/// because in the shared device memory the run without kernels has overwritten the outputs of the
/// full run.
nlohmann::json attribute_kept_header(const std::string& job, const std::string& case_id,
                                     const std::vector<Argument>& without);
/// Builds a request for new inputs of a case whose inputs are in shared device memory.
nlohmann::json refresh_header(const std::string& job, const std::string& case_id);
/// Builds a request to copy outputs in the shared device memory. The answer is read by
/// parse_was_set_aside(), and compare_aside_header() asks for the result.
nlohmann::json set_aside_header(const std::string& job, const std::string& case_id,
                                const std::vector<Argument>& outputs);
/// Builds a request to judge the oldest outputs of a case that were set aside. parse_compared()
/// reads the answer.
nlohmann::json compare_aside_header(const std::string& job, const std::string& case_id);
/// Builds a request to compute the references of a case, and to draw inputs for the next `rounds`
/// requests for new inputs.
nlohmann::json references_header(const std::string& job, const std::string& case_id, bool timed,
                                 int rounds);
nlohmann::json settle_header(const std::string& job);
nlohmann::json free_memory_header(const std::string& job);
nlohmann::json time_reference_header(const std::string& job, const std::string& case_id,
                                     std::chrono::milliseconds longest);
nlohmann::json time_compiled_header(const std::string& operator_dir, const CaseRequest& one,
                                    bool eager);
/// Builds a request to judge a case of the host tier. The socket to the candidate is sent with the
/// frame. `round_ms` is the time limit of one round.
nlohmann::json host_case_header(const std::string& job, const std::string& case_id,
                                const HostRounds& rounds, std::int64_t round_ms);
/// Builds the message that makes a parked candidate the judge of a check. The payload of its frame
/// is the reference's source. `wall_ms` is the time limit of one request.
nlohmann::json reference_header(const CheckReference& reference, std::int64_t wall_ms,
                                const std::string& device);
nlohmann::json lint_header(const std::string& operator_dir, const std::string& device,
                           const std::vector<CaseRequest>& cases, std::uint32_t seed);
nlohmann::json release_header(const std::string& job);

}  // namespace assay::sandbox
