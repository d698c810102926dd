// replay() performs a launch plan on inputs that the submission has never seen, and returns the
// outputs. Verdicts of the tier `plan` come from this function.
//
//   ReplayRequest request;
//   request.gpu_memory_bytes = 1 << 30;
//   LaunchResult<Launched> result = replay(gpu, plan, shared_buffers, request, clock);
//
// The steps:
//  1. Check the plan, and its memory against the limit.
//  2. Allocate the buffers between canaries (bytes that reveal a write outside a buffer).
//  3. Fill inputs and constants, and poison all other memory. Hide the shared memory, and load the
//     binaries.
//  4. Run the plan once. Check the canaries.
//  5. If requested, find the fastest alternative of each choice, and time the plan.
//  6. Compare the inputs with their first contents, and copy the outputs. If the plan is timed,
//     this is done after one timed run that is drawn at random, and pauses after other runs are
//     decoys, so that a kernel cannot know which run is checked. The canaries are checked again
//     after the last run.
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
#include "sandbox/wire/sanitizer_tool.h"

namespace assay::sandbox {

// Each word of 16 bits of poisoned memory has this value. As a float of 16, 32 or 64 bits it is
// NaN. As an integer of 16 bits or more it is no mark for "none", unlike -1 and the largest
// number. So memory that no kernel wrote is unlikely to contain a correct result. The judge
// knows the value too (sandbox/harness/wire/poison.py).
inline constexpr std::uint16_t kPoison = 0xFFF1;

// The maximum number of threads that one multiprocessor can run at once, over all GPUs that Assay
// knows.
inline constexpr std::uint64_t kMostThreadsPerMultiprocessor = 2'048;

struct ReplayRequest {
  // The memory limit in bytes. It applies to the plan's buffers, scratch memory and guards, and to
  // the writable variables and the local memory of the kernels. Copies that the launcher makes for
  // timing do not count.
  std::uint64_t gpu_memory_bytes = 0;
  std::optional<TimingRules> timing;
  // For each tunable, the alternative (autotuner configuration) that an earlier replay chose. If
  // the list is empty, a timed replay chooses the alternatives, and an untimed replay uses the
  // first alternatives.
  std::vector<std::size_t> chosen;
  // If the plan is timed, this function is called once, before the warm-up. It lets the judge put
  // new inputs into the shared buffers. The warm-up still uses the launcher's copies of the old
  // inputs. The launcher switches to the new inputs after the warm-up. So the first sample is the
  // first run on the new inputs, and a kernel cannot use values that it kept from the warm-up.
  std::function<LaunchStatus()> stage_next_inputs = {};
  // If false, a timed plan returns no outputs, and inputs that it has changed are not found. This
  // saves the mapping of the judge's memory for a plan whose outputs nobody compares.
  bool returns_outputs = true;
  // If true and the plan is timed, determinism is checked and a timeline is measured.
  bool inspect = false;
  // If true, the plan runs without the submission's kernels. Outputs that are right in such a run
  // were not computed by these kernels.
  bool ablated = false;
  TrustedKernels* trusted = nullptr;  // null if the device cannot run trusted kernels
  // The tool under which this process runs, if there is one. Memory is prepared for this tool:
  // memcheck needs buffers without guards, and initcheck needs memory without poison. Under a tool,
  // outputs are not copied and inputs are not compared.
  std::optional<SanitizerTool> sanitizer = {};
};

/// Performs a plan and returns the result. The result has no case name, because a plan does not
/// contain the name of its case. Shared device memory may stay mapped afterwards, so that the next
/// call need not map it: the plan's code is unloaded then. The caller must close the buffers after
/// an error.
LaunchResult<Launched> replay(GpuDriver& gpu, const Plan& plan, SharedBuffers& shared,
                              const ReplayRequest& request, const Clock& clock);

}  // namespace assay::sandbox
