// Lays out the arguments of a kernel for an AMD GPU. The HIP runtime and an emulator get the
// arguments as one block of bytes. AMD's compiler places each argument at a multiple of its size.
//
//   std::vector<std::byte> room(kHipArgumentRoomBytes);
//   LaunchResult<std::size_t> bytes = pack_hip_arguments(params, room);
//
// Pure functions, thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "sandbox/launcher/driver/gpu_driver.h"

namespace assay::sandbox::hip {

// The size of the buffer for kernel arguments. The runtime copies as many bytes as the image
// declares. They are at most half of this size (kMostAmdArgumentBytes in plan/plan_check.h). If an
// image declares more bytes than the plan passes, the runtime copies zeros from the rest of this
// buffer and no other memory of this process. In a cooperative launch, the last argument may begin
// where the plan's arguments end.
inline constexpr std::size_t kHipArgumentRoomBytes = 64 << 10;

/// Writes the values into `room` and zeros behind them. Returns the size of the values together.
/// Errors: launch_failure for a tensor map; invalid_plan if they need more than half of `room`.
LaunchResult<std::size_t> pack_hip_arguments(std::span<const ParamValue> params,
                                             std::span<std::byte> room);

/// Makes `pointers` point to each of the `params` that pack_hip_arguments() has written into
/// `room`. A cooperative launch takes the arguments in this form, and reads one pointer for each
/// argument that the image declares. If an image declares more arguments than the plan passes, the
/// pointers behind the list point to zeros in `room`. `packed` is the result of
/// pack_hip_arguments().
void point_to_hip_arguments(std::span<const ParamValue> params, std::size_t packed,
                            std::span<std::byte> room, std::vector<void*>& pointers);

/// Checks that all blocks of a cooperative launch run at the same time, since they wait for each
/// other. `blocks_each` is the number of blocks that fit on a compute unit. Error: launch_failure.
LaunchStatus check_hip_cooperative(const LaunchShape& shape, std::int64_t blocks_each,
                                   std::int64_t compute_units);

/// Refuses by name what AMD's GPUs lack: clusters and dependent launches. Error: launch_failure.
LaunchStatus check_hip_shape(const LaunchShape& shape);

}  // namespace assay::sandbox::hip
