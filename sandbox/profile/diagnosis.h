// What bounds a submission: its roofline from the operator's cost model and the device's peaks, and
// a class with the number that shows it.
//
//   const Roofline roof = roofline({.peaks = *peaks_of("cuda:90"), .cost_bytes = 302e6, ...});
//   const Finding finding = find_bound({.roofline = roof, .kernels = kernels, .multiprocessors =
//   132});
//
// Best evidence first: hardware counters, a measured latency, what the compiler made.
// docs/explanation/profiling.md has the rules in words. Pure functions.
//
// The one thing to change next, by rules in the order in which they pay: what wastes most comes
// first.
//
//   std::string advice = suggestion({.finding = finding, .roofline = roof, .kernels = kernels,
//   .code = code});
//
// Every rule names the number that made it speak. Pure function.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sandbox/job/job.h"
#include "sandbox/profile/targets.h"

namespace assay::sandbox {

struct RooflineInput {
  Peaks peaks;
  double cost_bytes = 0, cost_flops = 0;
  std::string dtype;  // of the case: which unit the work could use, where the code is not known
  std::vector<CodeDigest> code;  // which unit it does use
};
/// Without a latency. The unit is that of the kernels' matrix instructions, else the vector units.
Roofline roofline(const RooflineInput& input);

struct BoundInput {
  Roofline roofline;  // with the latency, where there is one
  std::vector<KernelReport> kernels;
  std::vector<KernelCounters> counters;
  std::int64_t multiprocessors = 0;
};

struct Finding {
  Bound bound = Bound::latency;
  Evidence evidence = Evidence::compiled;
  std::string reason;
};
Finding find_bound(const BoundInput& input);

/// All launches of a plan, by its kernels' reports.
std::int64_t launches_of(const std::vector<KernelReport>& kernels);
/// Thread blocks of the widest launch; 0 when no grid is known.
std::int64_t widest_grid(const std::vector<KernelReport>& kernels);

struct Circumstances {
  Finding finding;
  Roofline roofline;
  std::vector<KernelReport> kernels;
  std::vector<CodeDigest> code;
  std::vector<KernelCounters> counters;
  std::string target, dtype;
  std::int64_t multiprocessors = 0;
  std::int64_t unaligned_row_bytes =
      0;  // of a tensor whose rows do not all begin at a multiple of 16 bytes; 0: all do
  double tensor_flops_per_s =
      0;  // what matrix instructions of the case's type would reach; 0: unknown
};

std::string suggestion(const Circumstances& at);

}  // namespace assay::sandbox
