// replay performs a launch plan on inputs that the submission never saw, and returns the outputs.
// The plan tier rests on it.
//
//   LaunchResult<ReplayResult> result =
//       replay(gpu, plan, shared_buffers, {.gpu_memory_bytes = 1 << 30}, clock);
//
// The steps:
//  1. Check the plan, and its memory against the limit.
//  2. Allocate the buffers between canaries, and load the binaries.
//  3. Fill inputs and constants, and poison all other memory.
//  4. Run. Check the canaries and the inputs.
//  5. If requested, find the fastest alternative of each choice, and time the plan.
//  6. Copy the outputs. If the plan was timed, they are those of one timed run that is drawn at
//     random, so that a kernel cannot tell which run is checked.
// One thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "sandbox/launcher/driver/gpu_driver.h"
#include "sandbox/launcher/memory/shared_buffers.h"
#include "sandbox/launcher/memory/trusted_kernels.h"
#include "sandbox/launcher/plan/plan.h"
#include "sandbox/launcher/replay/program.h"
#include "sandbox/launcher/replay/trials.h"
#include "sandbox/launcher/timing/timing.h"

namespace assay::sandbox {

// NaN as a float, -1 as an integer: what nobody wrote is never right by chance
inline constexpr std::uint8_t kPoisonByte = 0xFF;

struct ReplayRequest {
  // over the plan's buffers, scratch and guards; copies for timing are ours and not counted
  std::uint64_t gpu_memory_bytes = 0;
  std::optional<TimingRules> timing;
  // The alternative of each tunable, as an earlier replay chose it. Empty: the timed replay
  // chooses.
  std::vector<std::size_t> chosen;
  // When timed: called once before the warm-up, so that the judge can put new inputs into the
  // shared buffers. The warm-up still runs on the old inputs. So the first sample is the first run
  // on its inputs, and values that a kernel kept from earlier runs are of no use.
  std::function<LaunchStatus()> stage_next_inputs = {};
  bool inspect = false;  // after timing: determinism and timeline
  // without the submission's kernels: what is right all the same is not their work
  bool ablated = false;
  TrustedKernels* ours = nullptr;  // null where the device cannot run them
};

struct ReplayOutput {
  std::string dtype;
  std::vector<std::int64_t> shape, strides;
  std::uint64_t offset = 0;  // in the exchange's outputs, at kOutputAlignment
  std::uint64_t bytes = 0;
};

struct ReplayResult {
  std::vector<ReplayOutput> outputs;
  std::vector<KernelUse> kernels;
  std::vector<std::string> choices;  // by tunable: the label of the chosen alternative
  std::vector<std::size_t> chosen;   // by tunable: its index
  // inputs that were written and are no inout arguments; looked for when it is not timed
  std::vector<std::string> modified;
  std::int64_t moves = 0;  // operations that only move data
  Samples samples;         // empty unless timed
  std::optional<Inspection> inspection;
};

LaunchResult<ReplayResult> replay(GpuDriver& gpu, const Plan& plan, SharedBuffers& exchange,
                                  const ReplayRequest& request, const Clock& clock);

}  // namespace assay::sandbox
