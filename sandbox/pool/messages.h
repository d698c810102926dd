// The messages of zygote, candidate and judge as typed structs (docs/reference/frames.md). The
// supervisor reads and writes their frame headers nowhere else. The messages of the launcher are in
// sandbox/wire/launch_request.h and launch_reply.h, because the launcher uses them too.
//
//   Result<CandidateMessage> message = parse_candidate(frame);  // checks every field
//   Status sent = send_frame(socket, to_header(job), source, fds, deadline);
//
// Pure functions. The descriptors of a received frame stay in Frame::fds; a struct has indices into
// them.
#pragma once

#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/result.h"
#include "sandbox/jail/layer.h"
#include "sandbox/job/job.h"
#include "sandbox/pool/versions.h"
#include "sandbox/wire/argument.h"
#include "sandbox/wire/frame.h"

namespace assay::sandbox {

// ---- zygote ----
struct ZygoteReady {
  Versions versions;
  std::vector<LayerReport> layers;
};
struct ForkRequest {
  int slot = 0;
  bool strict = false;
  std::int64_t tmp_bytes = 0, processes = 0;
  std::int64_t data_bytes = 0;  // 0 if a cgroup limits memory
  int niceness = 0;
  std::vector<std::string> devices;  // device files of a GPU that the child may use
};
/// How a process ended, as waitid tells its parent.
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
  /// For each output, the name of its inout argument, or an empty string if it is returned.
  std::vector<std::string> output_from;
  std::int64_t output_fd = -1, output_bytes = 0;
  std::map<std::string, std::int64_t> axes;    // the axes in the shapes; only for CUDA C++
  std::vector<PreparedOutput> output_tensors;  // only for host jobs and CUDA C++
};
enum class CandidateMode {
  interpret,
  ablate,  // as interpret, but launches do nothing
  record,
  host,         // runs with the GPU
  disassemble,  // the payload is a launch plan; its binaries come back as text, in artifacts
};
/// Further fields of a host job.
struct HostAccess {
  std::string device;          // "cuda", or "cpu" in tests
  bool ablated = false;        // launches do nothing
  std::int64_t rounds_fd = 0;  // the socket to the judge, as an index into the frame's descriptors
  std::int64_t gpu_memory_bytes = 0;
};
struct CandidateJob {
  CandidateMode mode = CandidateMode::interpret;
  std::string entry, dialect, target;
  bool artifacts = false;
  bool alternatives = false;  // records every configuration of an autotuner, not only the first
  std::optional<HostAccess> host = {};
  std::string language = std::string(kPython);
  /// The candidate stops itself shortly before this limit of its import; 0 means no limit.
  std::int64_t import_wall_ms = 0;
};
/// Cases that a candidate gets together, after its import.
struct CandidateBatch {
  std::vector<CandidateCase> cases;
  bool last = true;  // no other batch follows
  /// The candidate stops itself shortly before this limit and reports the case; 0 means no limit.
  std::int64_t run_wall_ms = 0;
};
struct Parked {
  std::vector<LayerReport> layers;
};
/// Sent before any code of the submission runs.
struct SourceParsed {};
struct Imported {};
struct CaseDone {
  std::string id;
  std::vector<Argument> outputs;  // mode interpret
  bool reordered = false;  // mode interpret: torch, not a kernel, made the order of an output
  std::vector<KernelReport> kernels;  // mode record
  std::string plan;                   // mode record; the frame's payload
};
struct CandidateError {
  Stage stage = Stage::run;
  ErrorKind kind = ErrorKind::other_exception;
  Diagnostic diagnostic;
  std::string case_id;
};
struct Done {};
using CandidateMessage =
    std::variant<Parked, SourceParsed, Imported, CaseDone, Artifact, CandidateError, Done>;

// ---- judge ----
struct JudgeReady {
  Versions versions;
  std::string device_name;
};
/// The place of a case in the device memory that judge and launcher share.
struct DevicePlaces {
  std::map<std::string, std::int64_t> inputs;  // offset of each tensor argument
  std::int64_t output_offset = 0;              // offset of the space for outputs
};
struct PreparedCase {
  std::string id, seed;
  std::vector<Argument> arguments;  // fd: index into the frame's descriptors
  std::vector<std::string> structural, inout;
  std::map<std::string, std::int64_t> axes;  // the axes in the shapes
  std::vector<PreparedOutput> outputs;
  /// Size of the space for outputs. Outputs of a wrong, wider type fit too, so that the judge can
  /// see and name them.
  std::int64_t output_bytes = 0;
  std::optional<DevicePlaces> device;
  double cost_bytes = 0, cost_flops = 0;
  bool is_layout = false;  // the order of the outputs' elements is the whole work
};
struct DeviceMemory {
  std::int64_t fd = 0, bytes = 0;  // the handle, as an index into the frame's descriptors
};
struct Prepared {
  std::vector<PreparedCase> cases;
  std::optional<DeviceMemory> device;
};
struct Compared {
  ErrorKind kind = ErrorKind::none;  // none, wrong_result or output_mismatch
  CaseRecord record;                 // its numerics, outcome and reason are set
};

/// The judge's result for a case on the host tier.
struct HostJudged {
  enum class Broken { no, ended, late, protocol, memory } broken = Broken::no;
  std::string message;           // describes a broken conversation; the other fields are unset then
  Compared compared;             // result of the comparison
  std::optional<Timing> timing;  // wall clock time of one call
  std::string seed;              // seed of the first round
};
/// Tells whether the submission's kernels produced the outputs.
struct Attributed {
  bool ok = false;
  std::string reason;  // why not, if not `ok`
};

struct LintCheck {
  std::string case_id;  // empty if the check is about the whole operator
  std::string check, detail;
  bool ok = false;
  bool mutant = false;  // checks that a wrong answer is rejected
};

Result<ZygoteMessage> parse_zygote(const Frame& frame);
/// Takes the payload out of the frame.
Result<CandidateMessage> parse_candidate(Frame& frame);
Result<JudgeReady> parse_judge_ready(const Frame& frame);
Result<Prepared> parse_prepared(const Frame& frame);
Result<Compared> parse_compared(const Frame& frame);
Result<HostJudged> parse_host_judged(const Frame& frame);
Result<Attributed> parse_attributed(const Frame& frame);
Result<std::vector<double>> parse_timed_reference(const Frame& frame);
/// Returns the new seed, or an empty string if the case kept its inputs.
Result<std::string> parse_refreshed(const Frame& frame);
Status parse_settled(const Frame& frame);
Result<std::vector<LintCheck>> parse_linted(const Frame& frame);
struct JudgeComplaint {
  std::string message;
  bool lost = false;  // the judge's CUDA context is broken for good, so every request will fail
};
JudgeComplaint parse_judge_error(const Frame& frame);
/// Tells whether a judge's reply belongs to this request. `case_id` may be empty.
bool answers(const Frame& frame, const std::string& job, const std::string& case_id);

nlohmann::json to_header(const ForkRequest& request);
nlohmann::json to_header(const CandidateJob& job);
nlohmann::json to_header(const CandidateBatch& batch);
nlohmann::json prepare_header(const Job& job, const std::string& device, bool structural_only);
/// With `on_device`, the outputs lie in the shared device memory. Otherwise their file goes with
/// the frame. With `keep`, the judge keeps outputs on the device for attribute_kept_header().
nlohmann::json compare_header(const std::string& job, const std::string& case_id,
                              const std::vector<Argument>& outputs, bool on_device, bool keep);
/// Two files go with the frame: the outputs, and the outputs of the run without kernels.
nlohmann::json attribute_header(const std::string& job, const std::string& case_id,
                                const std::vector<Argument>& outputs,
                                const std::vector<Argument>& without);
/// For outputs that the judge has kept. The outputs of the run without kernels have overwritten
/// them in the shared device memory.
nlohmann::json attribute_kept_header(const std::string& job, const std::string& case_id,
                                     const std::vector<Argument>& without);
/// Asks for new inputs of a case whose inputs lie in shared device memory.
nlohmann::json refresh_header(const std::string& job, const std::string& case_id);
nlohmann::json settle_header(const std::string& job);
nlohmann::json time_reference_header(const std::string& job, const std::string& case_id);
/// The socket to the candidate goes with the frame. `round_ms` is the time limit of one round, and
/// `gpu_memory_bytes` the limit of the candidate's GPU memory.
nlohmann::json host_case_header(const std::string& job, const std::string& case_id, bool time,
                                std::int64_t round_ms, std::int64_t gpu_memory_bytes);
nlohmann::json lint_header(const std::string& operator_dir, const std::string& device,
                           const std::vector<CaseRequest>& cases, std::uint32_t seed);
nlohmann::json release_header(const std::string& job);

}  // namespace assay::sandbox
