// Launched: the result of performing a launch plan. The launcher fills it, the message `launched`
// carries it (sandbox/wire/launch_reply.h), and the supervisor judges by it.
//
//   Launched launched;
//   launched.case_id = "small";
//   launched.kernels.push_back({.name = "add", .registers = 32, .launches = 1});
//   const bool timed = launched.samples.has_value();  // false
//
// Values, thread-safe.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sandbox/wire/argument.h"
#include "sandbox/wire/operation_time.h"

namespace assay::sandbox {

/// The facts of one binary of a plan on this device.
struct KernelUse {
  std::string name = {};
  std::int64_t registers = 0;     // per thread
  std::int64_t local_bytes = 0;   // per thread: spills and stack
  std::int64_t shared_bytes = 0;  // static and dynamic, per block
  std::int64_t launches = 0;
};

/// The samples of one timed launch, in the order in which they were taken.
struct LaunchSamples {
  std::vector<double> cold_ns = {};  // without the discarded samples; not empty
  // Taken after an uncounted run and refilled inputs, with the caches as these leave them.
  std::vector<double> warm_ns = {};
  // Cold, by the host's clock and on a stream that is not blocked. From before queueing to after
  // the wait: the time that a caller waits.
  std::vector<double> wall_ns = {};
  // Overhead of the marks with cold caches, subtracted from the cold samples. The overhead with
  // warm caches is subtracted from the warm samples.
  double overhead_ns = 0;
  double clock_mhz = 0;        // median during the cold samples; 0 if it was not read
  std::int64_t discarded = 0;  // cold samples at a clock clearly below the median
  // The first cold sample, if nothing had run on its inputs before and its clock was not low.
  std::optional<double> first_run_ns = {};
};

struct Inspection {
  // True if two runs gave the same bits. Empty if the device had no room to compare.
  std::optional<bool> deterministic = {};
  std::vector<OperationTime> timeline = {};  // empty for plans with too many operations
};

struct Launched {
  std::string case_id = {};
  std::vector<Argument> outputs = {};  // tensors; their offsets count from the room for outputs
  std::vector<KernelUse> kernels = {};
  std::vector<std::string> choices = {};  // by tunable: the label of the chosen alternative
  std::vector<std::int64_t> chosen = {};  // by tunable: its index
  // Inputs that the plan wrote to and may only read. After a timed launch: by the sample whose
  // outputs are returned.
  std::vector<std::string> modified = {};
  std::int64_t moves = 0;  // number of operations that only move data and may do a kernel's work
  bool reordered = false;  // these, not the submission's kernels, made the order of an output
  std::optional<LaunchSamples> samples = {};  // only of a timed launch
  std::optional<Inspection> inspection = {};  // only with `inspect`
};

}  // namespace assay::sandbox
