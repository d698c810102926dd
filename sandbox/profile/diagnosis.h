// Diagnoses a submission. The diagnosis has the roofline (from the operator's cost model and the
// device's peaks), the resource that bounds the submission, and one change to make next.
//
//   RooflineInput input;
//   input.peaks = *peaks_of("cuda:90");
//   input.cost_bytes = 302e6;
//   const Roofline roof = roofline(input);
//   const Finding finding =
//       find_bound({.roofline = roof, .kernels = kernels, .counters = {}, .multiprocessors = 132});
//   // finding.bound is Bound::memory, and finding.reason has the number that shows it
//
// A bound is derived from the best available evidence: hardware counters are better than a measured
// latency, and a latency is better than the compiled code. A suggestion comes from the first rule
// that applies. The rules are sorted by the time that is usually wasted, largest first.
// docs/explanation/profiling.md describes all rules. Pure functions.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sandbox/job/job.h"
#include "sandbox/profile/targets.h"

namespace assay::sandbox {

/// A kernel with at least this much traffic has work for every multiprocessor. If such a kernel has
/// a small grid, the cause is the submission and not the size of the case.
inline constexpr double kWorkForWholeGpuBytes = 4 << 20;

struct RooflineInput {
  Peaks peaks;
  double cost_bytes = 0, cost_flops = 0;
  std::string dtype;  // the case's dtype, which selects the unit if the code is unknown
  std::vector<CodeDigest> code;
};
/// Returns the roofline. Its latency is not set. If the kernels have matrix instructions, the
/// roofline's unit is the unit of these instructions. If they have no matrix instructions, the unit
/// is the vector unit, "float64" or "float32". If the code is unknown, the dtype determines the
/// unit.
Roofline roofline(const RooflineInput& input);

struct BoundInput {
  Roofline roofline;  // includes the latency if the case was timed
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

/// Returns the sum of the launches of these kernels.
std::int64_t launches_of(const std::vector<KernelReport>& kernels);
/// Returns the number of thread blocks of the launch with the most blocks, or 0 if no grid is
/// known.
std::int64_t widest_grid(const std::vector<KernelReport>& kernels);

/// The figures from which a suggestion is derived.
struct Circumstances {
  Finding finding;
  Roofline roofline;
  std::vector<KernelReport> kernels;
  std::vector<CodeDigest> code;
  std::vector<KernelCounters> counters;
  std::string target, dtype;
  std::int64_t multiprocessors = 0;
  // The distance between two rows in bytes, for a tensor in which not every row begins at a
  // multiple of 16 bytes. It is 0 if every row of every tensor begins at such a multiple.
  std::int64_t unaligned_row_bytes = 0;
  // The peak rate of matrix instructions for the case's dtype, or 0 if the rate is unknown.
  double tensor_flops_per_s = 0;
};

/// Returns one sentence with a change to make, and the number that shows the waste.
std::string suggestion(const Circumstances& at);

}  // namespace assay::sandbox
