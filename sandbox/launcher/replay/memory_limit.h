// Checks the device memory that a plan needs against a limit, before any of it is allocated.
//
//   LaunchResult<std::uint64_t> left = check_memory(plan, limit);
//   LaunchStatus fits = check_local_memory(program, facts, *left);  // after the kernels are loaded
//
// Pure functions. Thread-safe.
#pragma once

#include <cstdint>
#include <type_traits>

#include "sandbox/launcher/driver/launch_result.h"
#include "sandbox/launcher/plan/plan.h"
#include "sandbox/launcher/plan/plan_check.h"
#include "sandbox/launcher/replay/program.h"
#include "sandbox/wire/device_facts.h"

namespace assay::sandbox {

/// Calls visit(op, scratch, bytes) for each scratch parameter of every launch, in plan order. Stops
/// at the first error and returns it.
template <class Visit>
LaunchStatus for_each_scratch(const Plan& plan, Visit visit) {
  LaunchStatus status;
  for_each_operation(plan, [&](const auto& op) {
    if constexpr (std::is_same_v<std::decay_t<decltype(op)>, KernelOp>) {
      for (const KernelParam& param : op.params) {
        const auto* scratch = std::get_if<GlobalScratchParam>(&param);
        if (scratch == nullptr) continue;
        status = visit(op, *scratch, scratch->bytes_per_program * block_count(op));
        if (!status) return false;
      }
    }
    return true;
  });
  return status;
}

/// Subtracts the plan's buffers, scratch memory and variables from the memory limit. Returns the
/// bytes that remain for the kernels' local memory. Returns an error if the limit is exceeded.
LaunchResult<std::uint64_t> check_memory(const Plan& plan, std::uint64_t limit);

/// Checks that the local memory of each kernel needs at most `left` bytes. The driver reserves a
/// kernel's local memory for all threads that can be resident on the device. All kernels share one
/// reservation, so each kernel is checked alone and the sizes are not added.
LaunchStatus check_local_memory(const Program& program, const DeviceFacts& facts,
                                std::uint64_t left);

}  // namespace assay::sandbox
