// LaunchError says why a launch plan could not be performed. The launcher creates it, and the
// message `launch_error` contains it (sandbox/wire/launch_reply.h).
//
//   const LaunchError error{LaunchErrorKind::invalid_plan, "fill: the width is 0"};
//   const std::string_view name = to_string(error.kind);  // "invalid_plan"
//
// LaunchError is separate from Error in base/result.h, because the kind of a LaunchError decides
// the verdict. The kind says whether the submission, its device code or the launcher caused the
// failure. Plain structs and pure functions. Thread-safe.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace assay::sandbox {

enum class LaunchErrorKind {
  invalid_plan,      // the plan failed its checks
  launch_failure,    // the driver rejected a binary or a launch
  gpu_fault,         // device code failed: illegal address, assert, misaligned access
  gpu_memory_limit,  // the plan needs more than gpu_memory_bytes, or more than the device has
  device_full,       // the plan is within these limits, but others use the device's memory
  canary_violation,  // device code wrote outside its buffers
  internal_error,    // a broken device, driver or request: never the fault of the submission
};

inline constexpr std::array kLaunchErrorKinds = {
    LaunchErrorKind::invalid_plan,  LaunchErrorKind::launch_failure,
    LaunchErrorKind::gpu_fault,     LaunchErrorKind::gpu_memory_limit,
    LaunchErrorKind::device_full,   LaunchErrorKind::canary_violation,
    LaunchErrorKind::internal_error};

constexpr std::string_view to_string(LaunchErrorKind kind) {
  switch (kind) {
    case LaunchErrorKind::invalid_plan: return "invalid_plan";
    case LaunchErrorKind::launch_failure: return "launch_failure";
    case LaunchErrorKind::gpu_fault: return "gpu_fault";
    case LaunchErrorKind::gpu_memory_limit: return "gpu_memory_limit";
    case LaunchErrorKind::device_full: return "device_full";
    case LaunchErrorKind::canary_violation: return "canary_violation";
    case LaunchErrorKind::internal_error: return "internal_error";
  }
  return "internal_error";
}

constexpr std::optional<LaunchErrorKind> launch_error_kind_from(std::string_view text) {
  for (const LaunchErrorKind kind : kLaunchErrorKinds) {
    if (to_string(kind) == text) return kind;
  }
  return std::nullopt;
}

struct LaunchError {
  LaunchErrorKind kind = LaunchErrorKind::internal_error;
  std::string message = {};
};

}  // namespace assay::sandbox
