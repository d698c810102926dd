// Launched is the result of performing a launch plan. The launcher creates it, the message
// `launched` contains it (sandbox/wire/launch_reply.h), and the supervisor uses it for the verdict.
//
//   Launched launched;
//   launched.case_id = "small";
//   launched.kernels.push_back({.name = "add", .registers = 32, .launches = 1});
//   const bool timed = launched.samples.has_value();  // false
//
// Plain structs. Thread-safe.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sandbox/wire/argument.h"
#include "sandbox/wire/launch_parts.h"
#include "sandbox/wire/operation_time.h"

namespace assay::sandbox {

/// The resources (registers, shared memory, ...) that one kernel binary of the plan uses on this
/// device.
struct KernelUse {
  std::string name = {};
  std::int64_t registers = 0;     // per thread
  std::int64_t local_bytes = 0;   // per thread: spills and stack
  std::int64_t shared_bytes = 0;  // static and dynamic, per block
  std::int64_t launches = 0;
};

/// The samples of one timed launch, in the order in which they were taken.
struct LaunchSamples {
  std::vector<double> cold_ns = {};  // cold samples, without the discarded samples; never empty
  // Warm samples. An untimed run and a refill of the inputs precede each sample, so the caches
  // always have the same contents.
  std::vector<double> warm_ns = {};
  // Samples by the host's clock with cold caches, on a stream that is not blocked. A sample begins
  // before the work is queued and ends when the device has finished. So a sample is the time for
  // which a caller waits.
  std::vector<double> wall_ns = {};
  // The overhead of the timer's marks with cold caches. It is already subtracted from the cold
  // samples. The overhead with warm caches is subtracted from the warm samples.
  double overhead_ns = 0;
  // Cold samples before which the launcher loaded its own kernels again. Empty if the device cannot
  // run the launcher's kernels.
  std::vector<double> fresh_ns = {};
  double clock_mhz = 0;        // median during the cold samples; 0 if it was not read
  std::int64_t discarded = 0;  // number of cold samples whose clock was clearly below the median
  // The first cold sample. It is set only if no kernel had read the sample's inputs before, and if
  // the sample was not taken at a low clock.
  std::optional<double> first_run_ns = {};
};

struct Inspection {
  // True if two runs gave the same bits. Not set if there was too little device memory for the
  // comparison.
  std::optional<bool> deterministic = {};
  std::vector<OperationTime> timeline = {};  // empty for plans with too many operations
};

struct Launched {
  std::string case_id = {};
  // The output tensors. Their offsets are relative to the memory for outputs.
  std::vector<Argument> outputs = {};
  std::vector<KernelUse> kernels = {};
  std::vector<std::string> choices = {};  // for each tunable, the label of the chosen alternative
  std::vector<std::int64_t> chosen = {};  // for each tunable, the index of the chosen alternative
  // The names of inputs to which the plan wrote although it may only read them. In a timed launch,
  // only writes of the checked sample count.
  std::vector<std::string> modified = {};
  std::int64_t moves = 0;  // number of copies by the driver and by the recorder's kernels
  // True if the plan's copies, or the strides of an output, changed the order of an output's
  // elements (sandbox/launcher/plan/layout.h).
  bool reordered = false;
  LaunchParts parts = {};                     // where the launcher's time went
  bool holds_memory = false;                  // whether the launcher awaits a ReleaseRequest
  std::optional<LaunchSamples> samples = {};  // set only for a timed launch
  std::optional<Inspection> inspection = {};  // set only with `inspect`
};

}  // namespace assay::sandbox
