// Diagnoses a submission: its roofline from the operator's cost model and the device's peaks, the
// resource that bounds it, and one change to make next.
//
//   RooflineInput input;
//   input.peaks = *peaks_of("cuda:90");
//   input.cost_bytes = 302e6;
//   const Roofline roof = roofline(input);
//   const Finding finding =
//       find_bound({.roofline = roof, .kernels = kernels, .counters = {}, .multiprocessors = 132});
//   // finding.bound is Bound::memory, and finding.reason has the number that shows it
//
// A bound rests on the best evidence there is: hardware counters, then a measured latency, then the
// compiled code. A suggestion comes from the first rule that applies; the rules for the greatest
// waste come first. docs/explanation/profiling.md has all rules in words. Pure functions.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sandbox/job/job.h"
#include "sandbox/profile/targets.h"

namespace assay::sandbox {

/// From this much traffic on, a kernel has work for every multiprocessor. A small grid is then a
/// choice of the submission, not a consequence of the problem's size.
inline constexpr double kWorkForWholeGpuBytes = 4 << 20;

struct RooflineInput {
  Peaks peaks;
  double cost_bytes = 0, cost_flops = 0;
  std::string dtype;  // of the case: tells the unit where the code is unknown
  std::vector<CodeDigest> code;
};
/// Returns the roofline without a latency. Its unit is the one of the kernels' matrix instructions,
/// else the vector units.
Roofline roofline(const RooflineInput& input);

struct BoundInput {
  Roofline roofline;  // with the latency, where the case was timed
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

/// Returns the number of launches in a plan with these kernels.
std::int64_t launches_of(const std::vector<KernelReport>& kernels);
/// Returns the thread blocks of the widest launch; 0 when no grid is known.
std::int64_t widest_grid(const std::vector<KernelReport>& kernels);

/// The figures that a suggestion is drawn from.
struct Circumstances {
  Finding finding;
  Roofline roofline;
  std::vector<KernelReport> kernels;
  std::vector<CodeDigest> code;
  std::vector<KernelCounters> counters;
  std::string target, dtype;
  std::int64_t multiprocessors = 0;
  // Of a tensor whose rows do not all begin at a multiple of 16 bytes; 0 when all rows do.
  std::int64_t unaligned_row_bytes = 0;
  // The peak of matrix instructions for the case's dtype; 0 when unknown.
  double tensor_flops_per_s = 0;
};

/// Returns one sentence that names the change and the number that shows the waste.
std::string suggestion(const Circumstances& at);

}  // namespace assay::sandbox
