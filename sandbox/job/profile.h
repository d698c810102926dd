// What a profile says of a submission beyond its latency: which resource bounds it, the evidence,
// and one thing to change. Plain structs; part of a Verdict.
//
//   if (verdict.profile) show(verdict.profile->bound, verdict.profile->suggestion);
//
// The text of instructions and lines comes from binaries and sources that a submission made: to
// show, never to rest a score on.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace assay::sandbox {

/// What an agent asks to see besides the summary; each comes as an artifact and a short digest.
enum class ProfileDetail { summary, artifacts, timeline, counters, sass, source, roofline };

/// What keeps a kernel from being faster.
enum class Bound {
  memory,   // device memory's bandwidth
  compute,  // the arithmetic units that the kernel uses
  latency,  // neither: too little in flight
  launch,   // so little work that starting kernels is most of the time
};

/// What a bound was concluded from, best first.
enum class Evidence { counters, timing, compiled };

std::string_view to_string(ProfileDetail detail);
std::string_view to_string(Bound bound);
std::string_view to_string(Evidence evidence);
std::optional<ProfileDetail> profile_detail_from(std::string_view text);
std::optional<Bound> bound_from(std::string_view text);
std::optional<Evidence> evidence_from(std::string_view text);

/// The least that the case costs, against what the device can do at best.
struct Roofline {
  double cost_bytes = 0;             // least traffic, by the operator's cost model
  double cost_flops = 0;             // least work
  double bytes_per_s = 0;            // the memory's peak
  double flops_per_s = 0;            // the peak of the units that the kernels use
  std::string unit;                  // which: "float32", "float16 tensor", ...
  std::string source;                // where the peaks come from
  double floor_ns = 0;               // the slower of both, at peak
  std::optional<double> latency_ns;  // of the submission, where it was timed
  std::optional<double> oracle_ns;
  std::optional<double> share;  // floor / latency
};

struct OpcodeCount {
  std::string
      opcode;  // without its modifiers but the widths that matter: "LDG.128", "HGMMA", "FFMA"
  std::int64_t count = 0;
};

/// The instructions that the compiler made of one line.
struct LineCount {
  std::string file;         // empty: the submission; else the library's file, by its last two parts
  std::int64_t line = 0;    // from 1
  std::string code;         // that line's text, for the submission's own
  std::int64_t count = 0;   // instructions
  std::int64_t looped = 0;  // of them inside loops
  std::vector<OpcodeCount> opcodes;  // the most frequent, loops first
};

/// A kernel's machine code in numbers: static counts, each instruction once however often it runs.
struct CodeDigest {
  std::string kernel;
  std::string target;
  std::int64_t instructions = 0;
  std::int64_t looped = 0;  // inside loops
  std::int64_t tensor = 0;  // matrix instructions
  std::string tensor_unit;  // as Roofline::unit; empty without any
  std::int64_t barriers = 0;
  std::int64_t local_accesses = 0;  // loads and stores of spilled registers and the stack
  std::map<std::string, std::int64_t> global_loads, global_stores, shared_loads,
      shared_stores;  // bits a thread -> instructions; "bulk": a copy engine's
  std::vector<OpcodeCount>
      opcodes;                   // the most frequent: of the loops where there are any, else of all
  std::vector<LineCount> lines;  // most instructions in loops first
};

struct StallShare {
  std::string reason;  // "long_scoreboard", ...
  double share = 0;    // of the samples, 0..1
};

/// Hardware counters of one kernel, by ncu.
struct KernelCounters {
  std::string kernel;
  std::map<std::string, double> values;  // names and units in docs/explanation/profiling.md
  std::string limiter;                   // what limits its occupancy
  std::vector<StallShare> stalls;        // largest first
};

struct Profile {
  std::string case_id;
  std::string target;       // "cuda:90"
  std::string device_name;  // the device, or the one that stands for the target
  ProfileDetail detail = ProfileDetail::summary;
  Evidence evidence = Evidence::compiled;
  Bound bound = Bound::latency;
  std::string reason;  // of the bound, with the number that shows it
  Roofline roofline;
  std::string suggestion;  // one
  std::vector<CodeDigest> code;
  std::vector<KernelCounters> counters;
  std::map<std::string, std::string> missing;  // part that was asked for and is not there -> why
};

}  // namespace assay::sandbox
