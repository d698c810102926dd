// Reads and writes the messages of the zygote and the candidate.
#include <algorithm>
#include <array>
#include <limits>
#include <string_view>

#include "base/text.h"
#include "sandbox/jail/jail.h"
#include "sandbox/job/target.h"
#include "sandbox/pool/messages.h"
#include "sandbox/wire/header_reader.h"
#include "sandbox/wire/layer_reports.h"

namespace assay::sandbox {
namespace {

using nlohmann::json;

constexpr int kHighestSignalOrStatus = 255;
constexpr std::size_t kDiagnosticChars = 16'384;
constexpr std::size_t kAdviceChars = 300;  // ADVICE_CHARS in sandbox/harness/entry/errors.py
constexpr std::int64_t kMaxWarps = 1'024;
// The kinds of artifacts that the harness sends (sandbox/harness/candidate/candidate.py).
constexpr std::array<std::string_view, 3> kArtifactKinds = {"ptx", "amdgcn", "sass"};

template <class Message, class Value>
Result<Message> finish(const HeaderReader& in, Value value) {
  if (Status read = in.status(); !read) return fail(read.error());
  return Message(std::move(value));
}

Exited read_exited(HeaderReader& in) {
  Exited message;
  message.slot = static_cast<int>(in.integer("slot", 0, kMaxSlots - 1));
  message.status.value = static_cast<int>(in.integer("value", 0, kHighestSignalOrStatus));
  const std::string how = in.text("how");
  if (how == "exited")
    message.status.how = ExitStatus::How::exited;
  else if (how == "killed")
    message.status.how = ExitStatus::How::killed;
  else if (how == "dumped")
    message.status.how = ExitStatus::How::dumped;
  else
    in.reject("`how` is exited, killed or dumped");
  return message;
}

/// Returns true if a candidate may report an error of this kind. Only the supervisor may report
/// errors of the other kinds.
bool may_claim(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::none:
    case ErrorKind::wrong_result:
    case ErrorKind::unattributed:
    case ErrorKind::hidden_case:
    case ErrorKind::crash:
    case ErrorKind::floor_violation:
    case ErrorKind::memory_error:
    case ErrorKind::race:
    case ErrorKind::gpu_memory_limit:  // the supervisor detects this kind and the next three
    case ErrorKind::invalid_plan:
    case ErrorKind::launch_failure:
    case ErrorKind::gpu_fault:
    case ErrorKind::reference_error:
    case ErrorKind::cancelled:
    case ErrorKind::aborted:
    case ErrorKind::device_unhealthy:
    case ErrorKind::internal_error: return false;
    // A candidate may report all other kinds. This includes canary_violation, because the
    // interpreter checks addresses.
    default: return true;
  }
}

/// Returns true if a candidate can be at work in this stage.
bool may_be_in(Stage stage) {
  return stage == Stage::import || stage == Stage::compile || stage == Stage::record ||
         stage == Stage::run;
}

CandidateError read_error(HeaderReader& in) {
  CandidateError error;
  const std::optional<Stage> stage = stage_from(in.text("stage"));
  const std::optional<ErrorKind> kind = error_kind_from(in.text("kind"));
  if (!stage || !may_be_in(*stage)) in.reject("`stage` is not a stage of a candidate");
  if (!kind || !may_claim(*kind)) in.reject("`kind` is not a kind that a candidate may report");
  error.stage = stage.value_or(Stage::run);
  error.kind = kind.value_or(ErrorKind::other_exception);
  error.diagnostic.exception = in.text("exception").substr(0, kDiagnosticChars);
  error.diagnostic.message = in.text("message").substr(0, kDiagnosticChars);
  error.diagnostic.line = in.optional_integer("line");
  error.diagnostic.code = in.optional_text("code").substr(0, kDiagnosticChars);
  error.diagnostic.traceback = in.optional_text("traceback").substr(0, kDiagnosticChars);
  error.diagnostic.subject = in.optional_text("subject").substr(0, kDiagnosticChars);
  error.diagnostic.advice = in.optional_text("advice").substr(0, kAdviceChars);
  error.system_error = in.optional_integer("errno");
  error.device_error = in.optional_integer("device_error");
  error.case_id = in.optional_line("case");
  return error;
}

std::vector<KernelReport> read_kernels(HeaderReader& in) {
  std::vector<KernelReport> kernels;
  for (const json& entry : in.list("kernels", kMaxKernels)) {
    HeaderReader from(entry, "a kernel");
    KernelReport kernel;
    kernel.name = from.line("name");
    kernel.symbol = from.optional_line("symbol");
    kernel.target = from.line("target");
    if (std::find(kTargets.begin(), kTargets.end(), kernel.target) == kTargets.end())
      from.reject("`target` is none of " + target_names());
    kernel.num_warps = from.integer("num_warps", 0, kMaxWarps);
    kernel.registers = from.integer("registers", 0, kHighestInteger);
    kernel.spill_bytes = from.integer("spill_bytes", 0, kHighestInteger);
    kernel.shared_bytes = from.integer("shared_bytes", 0, kHighestInteger);
    kernel.binary_bytes = from.integer("binary_bytes", 0, kHighestInteger);
    kernel.grid = from.integers("grid", 3);
    kernel.launches = from.integer("launches", 0, kHighestInteger);
    in.merge(from);
    kernels.push_back(std::move(kernel));
  }
  return kernels;
}

json kernel_json(const KernelReport& kernel) {
  return {{"name", kernel.name},
          {"symbol", kernel.symbol},
          {"target", kernel.target},
          {"num_warps", kernel.num_warps},
          {"registers", kernel.registers},
          {"spill_bytes", kernel.spill_bytes},
          {"shared_bytes", kernel.shared_bytes},
          {"binary_bytes", kernel.binary_bytes},
          {"grid", kernel.grid},
          {"launches", kernel.launches}};
}

const char* mode_name(CandidateMode mode) {
  switch (mode) {
    case CandidateMode::interpret: return "interpret";
    case CandidateMode::ablate: return "ablate";
    case CandidateMode::reorder: return "reorder";
    case CandidateMode::record: return "record";
    case CandidateMode::host: return "host";
    case CandidateMode::disassemble: return "disassemble";
  }
  return "?";
}

json case_json(const CandidateCase& one) {
  json from = json::array();
  for (const std::string& name : one.output_from)
    from.push_back(name.empty() ? json(nullptr) : json(name));
  json out = {
      {"id", one.id},       {"arguments", to_json(one.arguments)}, {"structural", one.structural},
      {"inout", one.inout}, {"outputs", one.output_from.size()},   {"output_from", from}};
  if (one.output_fd >= 0) {
    out["output_fd"] = one.output_fd;
    out["output_bytes"] = one.output_bytes;
  }
  if (!one.axes.empty()) out["axes"] = one.axes;
  for (const PreparedOutput& output : one.output_tensors) {
    json described = {
        {"name", output.name}, {"dtype", output.dtype}, {"shape", output.shape}, {"from", nullptr}};
    if (!output.from.empty()) described["from"] = output.from;
    out["output_tensors"].push_back(std::move(described));
  }
  return out;
}

}  // namespace

Result<ZygoteMessage> parse_zygote(const Frame& frame) {
  const std::string type = frame.type();
  HeaderReader in(frame.header, type);
  if (type == "ready") {
    ZygoteReady ready{read_versions(in), read_layers(in)};
    return finish<ZygoteMessage>(in, std::move(ready));
  }
  if (type == "forked") {
    const Forked forked{static_cast<int>(in.integer("slot", 0, kMaxSlots - 1))};
    return finish<ZygoteMessage>(in, forked);
  }
  if (type == "exited") {
    const Exited exited = read_exited(in);
    return finish<ZygoteMessage>(in, exited);
  }
  return fail(ErrorCode::corrupt,
              "the zygote sent an unknown message `" + type.substr(0, 64) + "`");
}

Result<CandidateMessage> parse_candidate(Frame& frame) {
  const std::string type = frame.type();
  HeaderReader in(frame.header, type.substr(0, 64));
  if (!frame.fds.empty()) return fail(ErrorCode::corrupt, "a candidate sent descriptors");
  if (type == "parked") {
    Parked parked{read_layers(in)};
    return finish<CandidateMessage>(in, std::move(parked));
  }
  if (type == "parsed") return CandidateMessage(SourceParsed{});
  if (type == "imported") return CandidateMessage(Imported{});
  if (type == "done") return CandidateMessage(Done{});
  if (type == "case") {
    CaseDone done;
    done.id = in.text("id");
    if (in.has("outputs")) {
      done.outputs = read_arguments(in, "outputs");
      done.reordered = in.flag("reordered");
    }
    if (in.has("kernels")) done.kernels = read_kernels(in);
    if (in.has("left_out")) done.left_out = in.integer("left_out", 0, kHighestInteger);
    done.plan = std::move(frame.payload);
    return finish<CandidateMessage>(in, std::move(done));
  }
  if (type == "artifact") {
    Artifact artifact{in.line("kind"), in.line("name"), std::move(frame.payload)};
    if (std::find(kArtifactKinds.begin(), kArtifactKinds.end(), artifact.kind) ==
        kArtifactKinds.end())
      in.reject("`kind` is none of " + join(kArtifactKinds));
    return finish<CandidateMessage>(in, std::move(artifact));
  }
  if (type == "error") {
    CandidateError error = read_error(in);
    return finish<CandidateMessage>(in, std::move(error));
  }
  return fail(ErrorCode::corrupt, "an unknown message `" + type.substr(0, 64) + "`");
}

json to_header(const CaseDone& done) {
  json kernels = json::array();
  for (const KernelReport& kernel : done.kernels) kernels.push_back(kernel_json(kernel));
  return {{"type", "case"},
          {"id", done.id},
          {"kernels", std::move(kernels)},
          {"left_out", done.left_out}};
}

json to_header(const ForkRequest& request) {
  return {{"type", "fork"},
          {"slot", request.slot},
          {"jail",
           {{"slot", request.slot},
            {"isolation", request.strict ? "strict" : "best_effort"},
            {"tmp_bytes", request.tmp_bytes},
            {"file_bytes", request.tmp_bytes},
            {"processes", request.processes},
            {"data_bytes", request.data_bytes},
            {"niceness", request.niceness},
            {"devices", request.devices}}}};
}

json to_header(const CandidateJob& job) {
  json out = {{"type", "job"},
              {"mode", mode_name(job.mode)},
              {"entry", job.entry},
              {"dialect", job.dialect},
              {"language", job.language},
              {"target", job.target},
              {"artifacts", job.artifacts},
              {"alternatives", job.alternatives}};
  if (!job.adapter.empty()) out["adapter"] = job.adapter;
  if (job.import_wall_ms > 0) out["import_wall_ms"] = job.import_wall_ms;
  if (job.host) {
    out["device"] = job.host->device;
    out["rounds_fd"] = job.host->rounds_fd;
    out["ablated"] = job.host->ablated;
    out["idle"] = job.host->idle;
    out["gpu_memory_bytes"] = job.host->gpu_memory_bytes;
  }
  return out;
}

json to_header(const CandidateBatch& batch) {
  json cases = json::array();
  for (const CandidateCase& one : batch.cases) cases.push_back(case_json(one));
  json out = {{"type", "cases"}, {"cases", std::move(cases)}, {"last", batch.last}};
  if (batch.run_wall_ms > 0) out["run_wall_ms"] = batch.run_wall_ms;
  return out;
}

}  // namespace assay::sandbox
