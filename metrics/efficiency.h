// GPU efficiency as TritonBench defines it (arXiv 2502.14752, appendix B): the share of the
// device's peak that a submission reaches, in memory bandwidth or in arithmetic, whichever is
// higher. TritonBench takes the best of the sizes of an operator; a report shows that and the mean
// over the cases. Pure, thread-safe.
//
//   gpu_efficiency({.bytes = 1.2e9, .flops = 1e8},
//                  {.bytes_per_s = 4.8e12, .flops_per_s = 6.7e13}, 500'000)  ->  0.5
#pragma once

#include <optional>

namespace assay::metrics {

struct Work {
  double bytes = 0;  // the least traffic of the operator
  double flops = 0;  // the least arithmetic
};

struct Peaks {
  double bytes_per_s = 0;
  double flops_per_s = 0;
};

/// Nothing without a latency or a peak.
std::optional<double> gpu_efficiency(const Work& work, const Peaks& peaks, double latency_ns);

/// The same from the time that the work takes at peak: floor / latency.
std::optional<double> efficiency_of_floor(double floor_ns, double latency_ns);

}  // namespace assay::metrics
