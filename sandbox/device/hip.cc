#include "sandbox/device/hip.h"

#include <algorithm>
#include <string>

#include "sandbox/device/cuda.h"
#include "sandbox/jail/amd_nodes.h"
#include "sandbox/job/target.h"

namespace assay::sandbox {

std::string hip_problem(const DriverProbe& found, int index) {
  if (found.gpus.empty()) return found.reason;
  const std::size_t count = found.gpus.size();
  if (static_cast<std::size_t>(index) >= count)
    return "valid: hip:0 to hip:" + std::to_string(count - 1) +
           " (HIP_VISIBLE_DEVICES and ROCR_VISIBLE_DEVICES choose the GPUs that are counted)";
  const std::string& target = found.gpus[static_cast<std::size_t>(index)].target;
  if (std::find(kTargets.begin(), kTargets.end(), target) == kTargets.end())
    return found.gpus[static_cast<std::size_t>(index)].name + " has the target " + target +
           ", of which Assay has no facts; valid: " + target_names();
  return "";
}

Result<std::unique_ptr<Device>> make_hip_device(const SandboxConfig& config, int index) {
  std::string problem = amd_problem(read_amd_machine());
  if (problem.empty()) problem = hip_problem(probe_driver(config, "hip"), index);
  if (!problem.empty())
    return fail(ErrorCode::unavailable, "device hip:" + std::to_string(index) +
                                            " cannot be used: " + problem +
                                            "; `assay doctor` lists this machine's devices");
  SandboxConfig without_host_tier = config;
  // The jail shows the render nodes of all of AMD's GPUs (docs/explanation/amd.md), so host code of
  // a submission could use another GPU than the one that is locked for it.
  without_host_tier.host_tier = false;
  return make_cuda_device(without_host_tier, {.index = index, .driver = "hip", .judge_device = ""});
}

}  // namespace assay::sandbox
