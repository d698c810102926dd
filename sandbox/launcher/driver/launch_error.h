// LaunchError: why a launch plan could not be performed. The kinds are those of the `launch_error`
// frame (docs/reference/frames.md).
//
//   if (width == 0) return launch_fail(LaunchErrorKind::invalid_plan, "fill: the width is 0");
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
  internal_error,    // a broken device, driver or request: never the fault of the submission
};

constexpr std::string_view to_string(LaunchErrorKind kind) {
  switch (kind) {
    case LaunchErrorKind::invalid_plan: return "invalid_plan";
    case LaunchErrorKind::launch_failure: return "launch_failure";
    case LaunchErrorKind::gpu_fault: return "gpu_fault";
    case LaunchErrorKind::gpu_memory_limit: return "gpu_memory_limit";
    case LaunchErrorKind::canary_violation: return "canary_violation";
    case LaunchErrorKind::internal_error: return "internal_error";
  }
  return "internal_error";
}

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
