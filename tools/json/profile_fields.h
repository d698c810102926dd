// Names the JSON fields of a profile, of a sanitizer's report and of the figures of launches, which
// are parts of a verdict. The functions describe the structs to an archive (json_archive.h).
//
//   const nlohmann::json document = write_json(profile);
//
// Only sources of tools/json include this header. Thread-safe.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "sandbox/job/job.h"
#include "sandbox/job/profile.h"
#include "sandbox/job/sanitizer_report.h"
#include "tools/json/json_archive.h"

namespace assay::tools::archive_detail {

/// Takes the names of an enum's values from the functions that are defined beside the enum:
/// to_string() and `From`.
template <class Enum, std::optional<Enum> (*From)(std::string_view)>
struct SandboxNames {
  static std::string to(Enum value) { return std::string(to_string(value)); }
  static std::optional<Enum> from(const std::string& text) { return From(text); }
};

template <>
struct EnumNames<sandbox::ProfileDetail>
    : SandboxNames<sandbox::ProfileDetail, sandbox::profile_detail_from> {};
template <>
struct EnumNames<sandbox::Bound> : SandboxNames<sandbox::Bound, sandbox::bound_from> {};
template <>
struct EnumNames<sandbox::Evidence> : SandboxNames<sandbox::Evidence, sandbox::evidence_from> {};
template <>
struct EnumNames<sandbox::SanitizerTool>
    : SandboxNames<sandbox::SanitizerTool, sandbox::sanitizer_tool_from> {};

}  // namespace assay::tools::archive_detail

// Argument-dependent lookup finds `fields`, so it must be in the namespace of the structs.
namespace assay::sandbox {

template <class Archive>
void fields(Archive& archive, Roofline& roofline) {
  archive("cost_bytes", roofline.cost_bytes);
  archive("cost_flops", roofline.cost_flops);
  archive("bytes_per_s", roofline.bytes_per_s);
  archive("flops_per_s", roofline.flops_per_s);
  archive("unit", roofline.unit);
  archive("source", roofline.source);
  archive("floor_ns", roofline.floor_ns);
  archive("latency_ns", roofline.latency_ns);
  archive("oracle_ns", roofline.oracle_ns);
  archive("share", roofline.share);
}

template <class Archive>
void fields(Archive& archive, OpcodeCount& one) {
  archive("opcode", one.opcode);
  archive("count", one.count);
}

template <class Archive>
void fields(Archive& archive, LineCount& line) {
  archive("file", line.file);
  archive("line", line.line);
  archive("code", line.code);
  archive("count", line.count);
  archive("looped", line.looped);
  archive("opcodes", line.opcodes);
}

template <class Archive>
void fields(Archive& archive, CodeDigest& digest) {
  archive("kernel", digest.kernel);
  archive("target", digest.target);
  archive("instructions", digest.instructions);
  archive("looped", digest.looped);
  archive("tensor", digest.tensor);
  archive("tensor_unit", digest.tensor_unit);
  archive("barriers", digest.barriers);
  archive("local_accesses", digest.local_accesses);
  archive("global_loads", digest.global_loads);
  archive("global_stores", digest.global_stores);
  archive("shared_loads", digest.shared_loads);
  archive("shared_stores", digest.shared_stores);
  archive("opcodes", digest.opcodes);
  archive("lines", digest.lines);
}

template <class Archive>
void fields(Archive& archive, StallShare& stall) {
  archive("reason", stall.reason);
  archive("share", stall.share);
}

template <class Archive>
void fields(Archive& archive, KernelCounters& counters) {
  archive("kernel", counters.kernel);
  archive("values", counters.values);
  archive("limiter", counters.limiter);
  archive("stalls", counters.stalls);
}

template <class Archive>
void fields(Archive& archive, Profile& profile) {
  archive("case", profile.case_id);
  archive("target", profile.target);
  archive("device_name", profile.device_name);
  archive("detail", profile.detail);
  archive("evidence", profile.evidence);
  archive("bound", profile.bound);
  archive("reason", profile.reason);
  archive("roofline", profile.roofline);
  archive("suggestion", profile.suggestion);
  archive("code", profile.code);
  archive("counters", profile.counters);
  archive("missing", profile.missing);
}

template <class Archive>
void fields(Archive& archive, SanitizerPlace& place) {
  archive("kernel", place.kernel);
  archive("file", place.file);
  archive("line", place.line);
  archive("code", place.code);
}

template <class Archive>
void fields(Archive& archive, SanitizerFinding& finding) {
  archive("tool", finding.tool);
  archive("text", finding.text);
  archive("places", finding.places);
  archive("address", finding.address);
  archive("thread", finding.thread);
  archive("block", finding.block);
}

template <class Archive>
void fields(Archive& archive, SanitizerReport& report) {
  archive("case", report.case_id);
  archive("tools", report.tools);
  archive("findings", report.findings);
  archive("total", report.total);
}

template <class Archive>
void fields(Archive& archive, LaunchFigures& launch) {
  archive("ms", launch.ms);
  archive("new_contexts", launch.new_contexts);
  archive("kept_contexts", launch.kept_contexts);
}

}  // namespace assay::sandbox
