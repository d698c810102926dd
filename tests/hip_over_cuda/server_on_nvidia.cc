// Replaces make_device() in the program assay_hip_over_cuda (CMakeLists.txt): the launchers of the
// device cuda:0 use the HIP driver over the stand-in library of runtime.cc. So a whole server works
// with an NVIDIA GPU through HIP. The linker's option --wrap joins the names.
#include <cstdlib>
#include <memory>
#include <string>

#include "base/result.h"
#include "sandbox/device/cuda.h"
#include "sandbox/job/config.h"

#define ASSAY_MAKE_DEVICE                                                                 \
  "_ZN5assay7sandbox11make_deviceERKNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEE" \
  "RKNS0_13SandboxConfigE"

namespace assay::sandbox {

using Made = Result<std::unique_ptr<Device>>;

Made real_make_device(const std::string& name,
                      const SandboxConfig& config) __asm__("__real_" ASSAY_MAKE_DEVICE);
Made make_hip_over_cuda(const std::string& name,
                        const SandboxConfig& config) __asm__("__wrap_" ASSAY_MAKE_DEVICE);

Made make_hip_over_cuda(const std::string& name, const SandboxConfig& config) {
  if (name != "cuda:0") return real_make_device(name, config);
  SandboxConfig over_cuda = config;
  over_cuda.launcher += "-hip-over-cuda";
  over_cuda.host_tier = false;  // hip:N has none either
  // On a machine without a GPU, the tests give the judge the CPU.
  const char* judge = std::getenv("ASSAY_TEST_JUDGE_DEVICE");
  return make_cuda_device(
      over_cuda, {.index = 0, .driver = "hip", .judge_device = judge != nullptr ? judge : name});
}

}  // namespace assay::sandbox
