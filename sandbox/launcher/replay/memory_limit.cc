#include "sandbox/launcher/replay/memory_limit.h"

#include <cstdint>
#include <string>

#include "sandbox/launcher/memory/buffer_memory.h"
#include "sandbox/launcher/replay/replay.h"

namespace assay::sandbox {

LaunchResult<std::uint64_t> check_memory(const Plan& plan, std::uint64_t limit) {
  std::uint64_t left = limit;
  const auto take = [&](std::uint64_t bytes, std::uint32_t alignment) -> LaunchStatus {
    const std::uint64_t cost = GuardedMemory::cost(bytes, alignment);
    if (cost > left) {
      return launch_fail(LaunchErrorKind::gpu_memory_limit,
                         "the plan's buffers, with " + std::to_string(2 * kGuardBytes) +
                             " guard bytes each, need more than the limit of " +
                             std::to_string(limit) + " bytes");
    }
    left -= cost;
    return {};
  };
  for (const PlanBuffer& buffer : plan.buffers) {
    if (LaunchStatus s = take(buffer.bytes, kBufferAlignment); !s) return tl::unexpected(s.error());
  }
  for (const PlanBinary& binary : plan.binaries) {
    if (const std::uint64_t variables = writable_globals(binary.image); variables > 0) {
      if (LaunchStatus s = take(variables, kBufferAlignment); !s) return tl::unexpected(s.error());
    }
  }
  const LaunchStatus scratch =
      for_each_scratch(plan, [&](const KernelOp&, const GlobalScratchParam& param,
                                 std::uint64_t bytes) { return take(bytes, param.alignment); });
  if (!scratch) return tl::unexpected(scratch.error());
  return left;
}

LaunchStatus check_local_memory(const Program& program, const DeviceFacts& facts,
                                std::uint64_t left) {
  for (const KernelUse& kernel : program.kernels()) {
    const std::uint64_t bytes = static_cast<std::uint64_t>(kernel.local_bytes) *
                                static_cast<std::uint64_t>(facts.sms) *
                                kMostThreadsPerMultiprocessor;
    if (bytes <= left) continue;
    return launch_fail(LaunchErrorKind::gpu_memory_limit,
                       "kernel '" + kernel.name + "' uses " + std::to_string(kernel.local_bytes) +
                           " bytes of local memory per thread, which is " + std::to_string(bytes) +
                           " bytes for all resident threads; the plan's buffers leave " +
                           std::to_string(left) + " bytes of the limit");
  }
  return {};
}

}  // namespace assay::sandbox
