// Defines Profile: the resource that limits a submission's speed, the evidence for this, and one
// change to make next. A Profile is part of a Verdict. This file contains plain structs, and the
// names of their enums.
//
//   if (verdict.profile) show(verdict.profile->bound, verdict.profile->suggestion);
//
// The texts of instructions and source lines come from the submission. They are only displayed: no
// score depends on them.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace assay::sandbox {

/// A view that an agent can request in addition to the summary. The view is returned as an artifact
/// and as a short digest.
enum class ProfileDetail {
  summary,
  artifacts,
  timeline,
  counters,
  sass,
  source,
  roofline,
  sanitize,  // the case runs under a sanitizer first, and a finding ends the job
};

/// The resource that keeps a kernel from being faster.
enum class Bound {
  memory,   // bandwidth of the device's memory
  compute,  // the arithmetic units that the kernel uses
  latency,  // neither memory nor arithmetic is busy, because too few operations are in flight
  launch,   // starting kernels takes most of the time, because there is so little work
};

/// The kind of evidence for a bound. The best kind comes first.
enum class Evidence { counters, timing, compiled };

std::string_view to_string(ProfileDetail detail);
std::string_view to_string(Bound bound);
std::string_view to_string(Evidence evidence);
std::optional<ProfileDetail> profile_detail_from(std::string_view text);
std::optional<Bound> bound_from(std::string_view text);
std::optional<Evidence> evidence_from(std::string_view text);

/// Compares the minimum cost of a case with the peak rates of the device.
struct Roofline {
  double cost_bytes = 0;   // minimum traffic, by the operator's cost model
  double cost_flops = 0;   // minimum arithmetic
  double bytes_per_s = 0;  // peak of the memory
  double flops_per_s = 0;  // peak of `unit`
  std::string unit;        // the unit that the kernels use: "float32", "float16 tensor", ...
  std::string source;      // where the peaks come from
  // The minimum time of the case: the time of the memory traffic or the time of the arithmetic,
  // whichever is longer.
  double floor_ns = 0;
  std::optional<double> latency_ns;  // latency of the submission, if it was timed
  std::optional<double> oracle_ns;
  std::optional<double> share;  // floor_ns / latency_ns
};

struct OpcodeCount {
  std::string opcode;  // without modifiers, except the width of an access: "LDG.128", "FFMA"
  std::int64_t count = 0;
};

/// The instructions that the compiler generated for one line.
struct LineCount {
  std::string file;         // the last two parts of a library's path; empty for the submission
  std::int64_t line = 0;    // from 1
  std::string code;         // text of the line, if the line is in the submission
  std::int64_t count = 0;   // number of instructions
  std::int64_t looped = 0;  // number of instructions inside loops
  // The most frequent opcodes. If there are opcodes in loops, only opcodes in loops are listed.
  std::vector<OpcodeCount> opcodes;
};

/// Counts of a kernel's machine code. The counts are static: an instruction counts once, however
/// often it is executed.
struct CodeDigest {
  std::string kernel;
  std::string target;
  std::int64_t instructions = 0;
  std::int64_t looped = 0;  // instructions inside loops
  std::int64_t tensor = 0;  // matrix instructions
  std::string tensor_unit;  // as Roofline::unit; empty without matrix instructions
  std::int64_t barriers = 0;
  std::int64_t local_accesses = 0;  // loads and stores of spilled registers and the stack
  // Bits per thread -> number of instructions. The key "bulk" stands for the copy engine.
  std::map<std::string, std::int64_t> global_loads, global_stores, shared_loads, shared_stores;
  // The most frequent opcodes. If there are opcodes in loops, only opcodes in loops are listed.
  std::vector<OpcodeCount> opcodes;
  std::vector<LineCount> lines;  // lines with the most instructions in loops come first
};

struct StallShare {
  std::string reason;  // "long_scoreboard", ...
  double share = 0;    // share of all stalls, 0..1
};

/// Hardware counters of one kernel, measured by Nsight Compute (ncu).
struct KernelCounters {
  std::string kernel;
  std::map<std::string, double> values;  // docs/explanation/profiling.md has names and units
  std::string limiter;                   // the resource that limits the occupancy
  std::vector<StallShare> stalls;        // largest first
};

struct Profile {
  std::string case_id;
  std::string target;       // "cuda:90"
  std::string device_name;  // this machine's device, or a typical device of the target
  ProfileDetail detail = ProfileDetail::summary;
  Evidence evidence = Evidence::compiled;
  Bound bound = Bound::latency;
  std::string reason;  // the reason for the bound, with the number that shows it
  Roofline roofline;
  std::string suggestion;  // the change to make next
  std::vector<CodeDigest> code;
  std::vector<KernelCounters> counters;
  std::map<std::string, std::string> missing;  // requested part -> the reason why it is missing
};

}  // namespace assay::sandbox
