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
    if (end + param.bytes > room.size())
      return launch_fail(
          LaunchErrorKind::invalid_plan,
          "launch: the parameters are over " + std::to_string(room.size() >> 10) + " KiB");
    std::memcpy(room.data() + end, &param.value, param.bytes);
    end += param.bytes;
  }
  std::fill(room.begin() + static_cast<std::ptrdiff_t>(end), room.end(), std::byte{0});
  return end;
}

LaunchStatus check_hip_shape(const LaunchShape& shape) {
  const bool clustered = shape.cluster != std::array<std::uint32_t, 3>{1, 1, 1};
  if (clustered || shape.dependent_launch)
    return launch_fail(LaunchErrorKind::launch_failure,
                       "launch: AMD GPUs have neither clusters nor dependent launches");
  return {};
}

}  // namespace assay::sandbox::hip
