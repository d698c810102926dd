// Replaces make_device() in the program assay_on_fake_gpu (tests/CMakeLists.txt): the device cuda:0
// is a GPU whose launchers run the fake driver. So a whole server with launchers runs on a machine
// without a GPU, and matrix.py can make system calls of the server and of the launchers fail. The
// linker's option --wrap joins the names.
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
Made make_fake_gpu(const std::string& name,
                   const SandboxConfig& config) __asm__("__wrap_" ASSAY_MAKE_DEVICE);

Made make_fake_gpu(const std::string& name, const SandboxConfig& config) {
  if (name != "cuda:0") return real_make_device(name, config);
  return make_cuda_device(config, {.index = 0, .driver = "fake", .judge_device = "cpu"});
}

}  // namespace assay::sandbox
