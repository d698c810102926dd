#include "sandbox/launcher/driver/hip_arguments.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <string>

namespace assay::sandbox::hip {

LaunchResult<std::size_t> pack_hip_arguments(std::span<const ParamValue> params,
                                             std::span<std::byte> room) {
  std::size_t end = 0;
  for (const ParamValue& param : params) {
    if (param.map)
      return launch_fail(LaunchErrorKind::launch_failure, "launch: AMD GPUs have no tensor maps");
    end = (end + param.bytes - 1) / param.bytes * param.bytes;
    if (end + param.bytes > room.size() / 2)
      return launch_fail(
          LaunchErrorKind::invalid_plan,
          "launch: the parameters are over " + std::to_string(room.size() / 2) + " bytes");
    std::memcpy(room.data() + end, &param.value, param.bytes);
    end += param.bytes;
  }
  std::fill(room.begin() + static_cast<std::ptrdiff_t>(end), room.end(), std::byte{0});
  return end;
}

void point_to_hip_arguments(std::span<const ParamValue> params, std::size_t packed,
                            std::span<std::byte> room, std::vector<void*>& pointers) {
  // An argument has at least one byte, so no image declares more arguments than this.
  pointers.assign(room.size(), room.data() + std::min(packed, room.size() - 1));
  std::size_t end = 0;
  for (std::size_t i = 0; i < params.size(); ++i) {
    end = (end + params[i].bytes - 1) / params[i].bytes * params[i].bytes;
    pointers[i] = room.data() + end;
    end += params[i].bytes;
  }
}

LaunchStatus check_hip_cooperative(const LaunchShape& shape, std::int64_t blocks_each,
                                   std::int64_t compute_units) {
  const double blocks =
      double{1} * shape.grid[0] * shape.grid[1] * shape.grid[2];  // an integer could overflow
  if (blocks <= static_cast<double>(blocks_each) * static_cast<double>(compute_units)) return {};
  return launch_fail(LaunchErrorKind::launch_failure,
                     "cooperative launch: the grid has more blocks than run at once: at most " +
                         std::to_string(blocks_each * compute_units) + " (" +
                         std::to_string(blocks_each) + " on each of " +
                         std::to_string(compute_units) + " compute units)");
}

LaunchStatus check_hip_shape(const LaunchShape& shape) {
  const bool clustered = shape.cluster != std::array<std::uint32_t, 3>{1, 1, 1};
  if (clustered || shape.dependent_launch)
    return launch_fail(LaunchErrorKind::launch_failure,
                       "launch: AMD GPUs have neither clusters nor dependent launches");
  return {};
}

}  // namespace assay::sandbox::hip
