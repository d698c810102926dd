// Timing is the result of a measurement: the time of a submission's kernels for one case.
//
//   Timing timing;
//   timing.samples_ns = {10'240, 10'112, 10'176};
//   timing.median_ns = 10'176;
#pragma once

#include <cstdint>
#include <vector>

namespace assay::sandbox {

/// The time of one sequence of kernels: device time with cold caches, or wall-clock time on the
/// host tier.
struct Timing {
  double median_ns = 0;
  double low_ns = 0;  // 95 % confidence interval of the median
  double high_ns = 0;
  // The samples in the order in which they were taken, without discarded samples.
  std::vector<double> samples_ns;
  // Each of the following times and clocks is 0 if it was not measured.
  double warm_ns = 0;          // median of runs with warm caches
  double first_run_ns = 0;     // median of the samples that were the first run on their inputs
  double fresh_ns = 0;         // median of the fresh samples (sandbox/launcher/timing/timing.h)
  double wall_ns = 0;          // median by the host's clock, from queueing to the end of the wait
  double overhead_ns = 0;      // overhead of the timer's marks, already subtracted from the samples
  double clock_mhz = 0;        // median clock of the multiprocessors during the samples
  std::int64_t discarded = 0;  // number of samples whose clock was clearly below `clock_mhz`
  double age_ms = 0;  // age of a time that a profile reuses; 0 if it was measured in this job
};

}  // namespace assay::sandbox
