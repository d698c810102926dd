#include "sandbox/launcher/driver/launch_error.h"

namespace assay::sandbox {

std::string_view to_string(LaunchErrorKind kind) {
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

}  // namespace assay::sandbox
