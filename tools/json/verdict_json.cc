#include "tools/json/verdict_json.h"

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <string>
#include <string_view>
#include <system_error>

#include "tools/json/json_archive.h"
#include "tools/json/profile_fields.h"
#include "tools/json/timing_fields.h"

// In JSON, the values of the sandbox's enums have the names that sandbox/job/job.h defines.
namespace assay::tools::archive_detail {

template <>
struct EnumNames<sandbox::JobKind> : SandboxNames<sandbox::JobKind, sandbox::job_kind_from> {};
template <>
struct EnumNames<Baseline> : SandboxNames<Baseline, baseline_from> {};
template <>
struct EnumNames<sandbox::Outcome> : SandboxNames<sandbox::Outcome, sandbox::outcome_from> {};
template <>
struct EnumNames<sandbox::Tier> : SandboxNames<sandbox::Tier, sandbox::tier_from> {};
template <>
struct EnumNames<sandbox::Stage> : SandboxNames<sandbox::Stage, sandbox::stage_from> {};
template <>
struct EnumNames<sandbox::ErrorKind> : SandboxNames<sandbox::ErrorKind, sandbox::error_kind_from> {
};
template <>
struct EnumNames<sandbox::HintKind> : SandboxNames<sandbox::HintKind, sandbox::hint_kind_from> {};
template <>
struct EnumNames<sandbox::SkipReason>
    : SandboxNames<sandbox::SkipReason, sandbox::skip_reason_from> {};
template <>
struct EnumNames<sandbox::DropReason>
    : SandboxNames<sandbox::DropReason, sandbox::drop_reason_from> {};

}  // namespace assay::tools::archive_detail

namespace assay {

template <class Archive>
void fields(Archive& archive, SuiteId& suite) {
  archive("name", suite.name);
  archive("version", suite.version);
  archive("digest", suite.digest);
}

}  // namespace assay

// The functions `fields` must be in the namespace of the structs, because argument-dependent lookup
// finds them.
namespace assay::sandbox {

template <class Archive>
void fields(Archive& archive, Mismatch& mismatch) {
  archive("output", mismatch.output);
  archive("index", mismatch.index);
  archive("expected", mismatch.expected);
  archive("actual", mismatch.actual);
  archive("unstored", tools::Newer{mismatch.unstored});
}

template <class Archive>
void fields(Archive& archive, AxisSpan& span) {
  archive("axis", span.axis);
  archive("first", span.first);
  archive("last", span.last);
  archive("run", span.run);
  archive("period", span.period);
}

template <class Archive>
void fields(Archive& archive, Region& region) {
  archive("count", region.count);
  archive("share", region.share);
  archive("spans", region.spans);
}

template <class Archive>
void fields(Archive& archive, WrongElement& element) {
  archive("index", element.index);
  archive("expected", element.expected);
  archive("actual", element.actual);
  archive("inputs", element.inputs);
}

template <class Archive>
void fields(Archive& archive, WrongOutput& wrong) {
  archive("output", wrong.output);
  archive("shape", wrong.shape);
  archive("elements", wrong.elements);
  archive("allowed", wrong.allowed);
  archive("scale", wrong.scale);
  archive("relative", wrong.relative);
  archive("all", wrong.all);
  archive("unstored", wrong.unstored);
  archive("nan", wrong.nan);
  archive("memory", wrong.memory);
  archive("constant", wrong.constant);
  archive("ratio", wrong.ratio);
  archive("offset", wrong.offset);
  archive("row_ratios", wrong.row_ratios);
  archive("worst", wrong.worst);
}

template <class Archive>
void fields(Archive& archive, CaseRecord& record) {
  archive("id", record.id);
  archive("hidden", record.hidden);
  archive("outcome", record.outcome);
  archive("reason", record.reason);
  archive("max_abs_error", record.max_abs_error);
  archive("float64_error", record.float64_error);
  archive("strict_pass", record.strict_pass);
  archive("elements", record.elements);
  archive("mismatches", record.mismatches);
  archive("first_mismatch", record.first_mismatch);
  archive("wrong", tools::Newer{record.wrong});
  archive("modified", tools::Newer{record.modified});
  archive("latency", record.latency);
  archive("baseline_latency", record.baseline_latency);
  archive("pytorch_ns", record.pytorch_ns);
  archive("torch_compile_ns", record.torch_compile_ns);
  archive("torch_compile_unsupported", tools::Newer{record.torch_compile_unsupported});
  archive("floor_ns", record.floor_ns);
  archive("cost_bytes", record.cost_bytes);
  archive("cost_flops", record.cost_flops);
  archive("timeline", tools::Newer{record.timeline});
  archive("own_share", record.own_share);
  archive("deterministic", record.deterministic);
}

template <class Archive>
void fields(Archive& archive, KernelReport& kernel) {
  archive("name", kernel.name);
  archive("target", kernel.target);
  archive("num_warps", kernel.num_warps);
  archive("registers", kernel.registers);
  archive("spill_bytes", kernel.spill_bytes);
  archive("shared_bytes", kernel.shared_bytes);
  archive("binary_bytes", kernel.binary_bytes);
  archive("occupancy", kernel.occupancy);
  archive("occupancy_limiter", kernel.occupancy_limiter);
  archive("grid", kernel.grid);
  archive("launches", kernel.launches);
  archive("gpu_time_share", kernel.gpu_time_share);
}

template <class Archive>
void fields(Archive& archive, Diagnostic& diagnostic) {
  archive("exception", diagnostic.exception);
  archive("message", diagnostic.message);
  archive("line", diagnostic.line);
  archive("code", diagnostic.code);
  archive("traceback", diagnostic.traceback);
  archive("subject", tools::Newer{diagnostic.subject});
  archive("advice", tools::Newer{diagnostic.advice});
}

template <class Archive>
void fields(Archive& archive, Hint& hint) {
  archive("kind", hint.kind);
  archive("case", hint.case_id);
  archive("text", hint.text);
}

/// In format 1 a hint is a string: its text.
bool read_older_form(const nlohmann::json& in, Hint& hint) {
  if (!in.is_string()) return false;
  hint = {HintKind::other, "", in.get<std::string>()};
  return true;
}

template <class Archive>
void fields(Archive& archive, SkippedCases& skipped) {
  archive("ids", skipped.ids);
  archive("hidden", skipped.hidden);
  archive("reason", skipped.reason);
  archive("text", skipped.text);
}

/// In format 1 an entry is the string "ID: why" for one public case, or "N hidden: why" for N
/// hidden cases.
bool read_older_form(const nlohmann::json& in, SkippedCases& skipped) {
  constexpr std::string_view kHidden = " hidden";
  if (!in.is_string()) return false;
  const std::string entry = in.get<std::string>();
  const std::size_t colon = std::min(entry.find(':'), entry.size());
  const std::string_view name = std::string_view(entry).substr(0, colon);
  skipped = {};
  skipped.text = entry.substr(std::min(colon + 2, entry.size()));
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), skipped.hidden);
  const bool counted = error == std::errc{} && skipped.hidden > 0 &&
                       name.substr(static_cast<std::size_t>(end - name.data())) == kHidden;
  if (!counted) {
    skipped.hidden = 0;
    skipped.ids = {std::string(name)};
  }
  return true;
}

template <class Archive>
void fields(Archive& archive, Artifact& artifact) {
  archive("kind", artifact.kind);
  archive("name", artifact.name);
  archive("bytes", tools::Bytes{artifact.bytes});
}

template <class Archive>
void fields(Archive& archive, DroppedArtifact& dropped) {
  archive("kind", dropped.kind);
  archive("name", dropped.name);
  archive("bytes", dropped.bytes);
  archive("reason", dropped.reason);
}

template <class Archive>
void fields(Archive& archive, Provenance& provenance) {
  archive("device", provenance.device);
  archive("device_name", provenance.device_name);
  archive("worker", tools::Newer{provenance.worker});
  archive("recorder", tools::Newer{provenance.recorder});
  archive("driver", provenance.driver);
  archive("torch", provenance.torch);
  archive("triton", provenance.triton);
  archive("python", provenance.python);
  archive("assay", provenance.assay);
  archive("nvrtc", tools::Newer{provenance.nvrtc});
  archive("seeds", provenance.seeds);
  archive("missing_layers", provenance.missing_layers);
  archive("suite_id", tools::Newer{provenance.suite_id});
  archive("operator_revision", provenance.operator_revision);
  archive("source_sha256", provenance.source_sha256);
  archive("plans", provenance.plans);
}

template <class Archive>
void fields(Archive& archive, Verdict& verdict) {
  archive("job", verdict.job);
  archive("kind", verdict.kind);
  archive("operator", verdict.operator_name);
  archive("language", tools::Newer{verdict.language});
  archive("outcome", verdict.outcome);
  archive("error_kind", verdict.error_kind);
  archive("stage", verdict.stage);
  archive("summary", verdict.summary);
  archive("detail", verdict.detail);
  archive("diagnostic", verdict.diagnostic);
  archive("cases", verdict.cases);
  archive("skipped_cases", verdict.skipped_cases);
  archive("kernels", verdict.kernels);
  archive("hints", verdict.hints);
  archive("artifacts", verdict.artifacts);
  archive("artifacts_dropped", tools::Newer{verdict.artifacts_dropped});
  archive("stdout", verdict.stdout_text);
  archive("stderr", verdict.stderr_text);
  archive("tells_hidden", tools::Newer{verdict.tells_hidden});
  archive("tier", verdict.tier);
  archive("tier_reason", verdict.tier_reason);
  archive("profile", verdict.profile);
  archive("sanitizer", verdict.sanitizer);
  archive("baseline", verdict.baseline);
  archive("perf", verdict.perf);
  archive("stage_ms", verdict.stage_ms);
  archive("gpu_alone_ms", verdict.gpu_alone_ms);
  archive("launch", verdict.launch);
  archive("provenance", verdict.provenance);
}

template <class Archive>
void fields(Archive& archive, Limits& limits) {
  archive("import_wall_ms", limits.import_wall_ms);
  archive("run_wall_ms", limits.run_wall_ms);
  archive("launch_wall_ms", limits.launch_wall_ms);
  archive("judge_wall_ms", limits.judge_wall_ms);
  archive("memory_bytes", limits.memory_bytes);
  archive("gpu_memory_bytes", limits.gpu_memory_bytes);
  archive("cpu_percent", limits.cpu_percent);
  archive("processes", limits.processes);
  archive("tmp_bytes", limits.tmp_bytes);
  archive("stdout_bytes", limits.stdout_bytes);
  archive("output_flood_bytes", limits.output_flood_bytes);
  archive("source_bytes", limits.source_bytes);
  archive("reference_wall_ms", tools::Newer{limits.reference_wall_ms});
}

template <class Archive>
void fields(Archive& archive, CaseRequest& request) {
  archive("id", request.id);
  archive("hidden", request.hidden);
  archive("interpreter", request.interpreter);
  archive("axes", request.axes);
  archive("dtype", request.dtype);
  archive("distribution", request.distribution);
}

template <class Archive>
void fields(Archive& archive, CheckArgument& argument) {
  archive("name", argument.name);
  archive("type", argument.type);
  archive("dtype", argument.dtype);
  archive("shape", argument.shape);
  archive("distribution", argument.distribution);
  archive("low", argument.low);
  archive("high", argument.high);
  archive("value", argument.value);
}

template <class Archive>
void fields(Archive& archive, CheckReference& reference) {
  archive("source", tools::Verbatim{reference.source});
  archive("entry", reference.entry);
  archive("arguments", reference.arguments);
  archive("tolerance", reference.tolerance);
}

template <class Archive>
void fields(Archive& archive, Job& job) {
  archive("id", job.id);
  archive("kind", job.kind);
  archive("operator", job.operator_name);
  archive("operator_dir", job.operator_dir);
  archive("suite_id", tools::Newer{job.suite_id});
  archive("reference", job.reference);
  archive("entry", job.entry);
  archive("dialect", job.dialect);
  archive("language", job.language);
  archive("adapter", tools::Newer{job.adapter});
  archive("source", tools::Verbatim{job.source});
  archive("cases", job.cases);
  archive("input_seed", tools::Newer{job.input_seed});
  archive("targets", job.targets);
  archive("baseline", tools::Newer{job.baseline});
  archive("baseline_source", tools::Verbatim{job.baseline_source});
  archive("want_artifacts", job.want_artifacts);
  archive("detail", job.detail);
  archive("limits", job.limits);
}

}  // namespace assay::sandbox

namespace assay::tools {
namespace {

constexpr const char* kJobFormatName = "assay.job/1";

}  // namespace

nlohmann::json verdict_to_json(const sandbox::Verdict& verdict) {
  nlohmann::json document = write_json(verdict);
  document["format"] = kVerdictFormatName;
  return document;
}

Result<sandbox::Verdict> verdict_from_json(const nlohmann::json& document) {
  const nlohmann::json format =
      document.is_object() ? document.value("format", nlohmann::json()) : nlohmann::json();
  if (format != kVerdictFormatName && format != kOlderVerdictFormatName) {
    return fail(ErrorCode::corrupt,
                std::string("verdict: expected format \"") + kVerdictFormatName + "\"");
  }
  return read_json<sandbox::Verdict>(document, "verdict");
}

nlohmann::json job_to_json(const sandbox::Job& job) {
  nlohmann::json document = write_json(job);
  document["format"] = kJobFormatName;
  return document;
}

Result<sandbox::Job> job_from_json(const nlohmann::json& document) {
  if (!document.is_object() || document.value("format", nlohmann::json()) != kJobFormatName) {
    return fail(ErrorCode::corrupt, std::string("job: expected format \"") + kJobFormatName + "\"");
  }
  return read_json<sandbox::Job>(document, "job");
}

}  // namespace assay::tools
