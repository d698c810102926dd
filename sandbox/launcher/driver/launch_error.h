// LaunchError: why a launch plan could not be performed. The kinds are those of the `launch_error`
// frame (docs/reference/frames.md).
//
//   LaunchResult<DevicePtr> memory = gpu.allocate(bytes);
//   if (!memory) return tl::unexpected(memory.error());
//   return launch_fail(LaunchErrorKind::invalid_plan, "buffer 3: ...");
//
// The launcher does not use Error of base/result.h, because the kind decides the verdict: it tells
// whether the submission, its device code or this launcher is at fault. Errors are values.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <utility>

namespace assay::sandbox {

enum class LaunchErrorKind {
  invalid_plan,      // the plan failed its checks
  launch_failure,    // the driver refused a binary or a launch
  gpu_fault,         // device code trapped: illegal address, assert, misaligned access
  gpu_memory_limit,  // over gpu_memory_bytes, or the device is full
  canary_violation,  // device code wrote outside its buffers
  internal_error,    // a broken device, driver or request: never the submission's doing
};

std::string_view to_string(LaunchErrorKind kind);

struct LaunchError {
  LaunchErrorKind kind = LaunchErrorKind::internal_error;
  std::string message;
};

template <class T>
using LaunchResult = tl::expected<T, LaunchError>;
using LaunchStatus = LaunchResult<void>;

inline tl::unexpected<LaunchError> launch_fail(LaunchErrorKind kind, std::string message) {
  return tl::unexpected<LaunchError>(LaunchError{kind, std::move(message)});
}
inline tl::unexpected<LaunchError> launch_fail(LaunchError error) {
  return tl::unexpected<LaunchError>(std::move(error));
}

}  // namespace assay::sandbox
