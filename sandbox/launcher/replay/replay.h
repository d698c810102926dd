// replay performs a launch plan on inputs that the submission never saw, and returns the outputs.
// The plan tier rests on it.
//
//   ReplayRequest request;
//   request.gpu_memory_bytes = 1 << 30;
//   LaunchResult<Launched> result = replay(gpu, plan, shared_buffers, request, clock);
//
// The steps:
//  1. Check the plan, and its memory against the limit.
//  2. Allocate the buffers between canaries, and load the binaries.
//  3. Fill inputs and constants, and poison all other memory.
//  4. Run. Check the canaries and the inputs.
//  5. If requested, find the fastest alternative of each choice, and time the plan.
//  6. Compare the inputs with their first contents, and copy the outputs. If the plan was timed,
//     both belong to one timed run that is drawn at random, so that a kernel cannot tell which run
//     is checked.
// Not thread-safe.
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
#include "sandbox/wire/launched.h"

namespace assay::sandbox {

// NaN as a float, -1 as an integer, so that memory that no kernel wrote is never right by chance.
inline constexpr std::uint8_t kPoisonByte = 0xFF;

// The most threads that are resident on one multiprocessor, on any GPU that Assay knows.
inline constexpr std::uint64_t kMostThreadsPerMultiprocessor = 2'048;

struct ReplayRequest {
  // Limit for the plan's buffers, scratch and guards, and for the local memory of its kernels. The
  // copies for timing are the launcher's own and do not count.
  std::uint64_t gpu_memory_bytes = 0;
  std::optional<TimingRules> timing;
  // The alternative of each tunable, as an earlier replay chose it. Empty: a timed replay chooses,
  // and any other replay takes the first alternatives.
  std::vector<std::size_t> chosen;
  // If timed: called once before the warm-up, so that the judge can put new inputs into the shared
  // buffers. The warm-up still runs on the old inputs. So the first sample is the first run on its
  // inputs, and values that a kernel kept from earlier runs are of no use.
  std::function<LaunchStatus()> stage_next_inputs = {};
  bool inspect = false;  // if timed: also check determinism and take a timeline
  // Run without the submission's kernels. Outputs that are right even so are not their work.
  bool ablated = false;
  TrustedKernels* trusted = nullptr;  // null if the device cannot run trusted kernels
};

/// Returns the result without the name of the case, which a plan does not know.
LaunchResult<Launched> replay(GpuDriver& gpu, const Plan& plan, SharedBuffers& shared,
                              const ReplayRequest& request, const Clock& clock);

}  // namespace assay::sandbox
