// Reads the CSV files in which AMD's rocprofv3 stores hardware counters (counter_collection.csv).
// Each pass has its own file, with a line for each counter of each launch
// (sandbox/launcher/process/rocprof.h).
//
//   Result<std::vector<KernelCounters>> counters =
//       read_rocprof_reports({first, second, third}, verdict.kernels, 5.3e12);
//
// Pure functions. Thread-safe.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "sandbox/job/job.h"
#include "sandbox/job/profile.h"

namespace assay::sandbox {

/// Returns the counters of the kernels in `wanted`, in the same order. Kernels that the first
/// report does not contain are left out. If a kernel has several launches, its counters are those
/// of the longest launch of the first report, and of the same launch in the other reports.
/// `bytes_per_s` is the peak bandwidth of the device's memory. The reports are untrusted; lines
/// that are no part of a table are skipped. Errors: unavailable if there are no counters; the
/// message has the beginning of what was printed instead.
Result<std::vector<KernelCounters>> read_rocprof_reports(const std::vector<std::string>& reports,
                                                         const std::vector<KernelReport>& wanted,
                                                         double bytes_per_s);

}  // namespace assay::sandbox
