// Replaces, in the program assay-launcher-hip-over-cuda (CMakeLists.txt), the three functions of
// the launcher that look for AMD's GPUs in the kernel driver's tables. So the launcher's HIP driver
// runs on an NVIDIA GPU, over the stand-in library of runtime.cc. The linker's option --wrap joins
// the names. Everything else is the launcher's own code.
#include <dlfcn.h>
#include <unistd.h>

#include <charconv>
#include <string>
#include <vector>

#include "base/result.h"
#include "sandbox/jail/amd_nodes.h"
#include "sandbox/jail/gpu_nodes.h"
#include "tests/hip_over_cuda/cuda_calls.h"

namespace assay::sandbox {

std::vector<std::string> nvidia_device_files(const AmdPlaces&) __asm__(
    "__wrap__ZN5assay7sandbox16amd_device_filesB5cxx11ERKNS0_9AmdPlacesE");
Result<std::string> nvidia_target_at(const std::string& pci_place, const AmdPlaces&) __asm__(
    "__wrap__ZN5assay7sandbox13amd_target_atERKNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEE"
    "RKNS0_9AmdPlacesE");

namespace hip {
std::string cuda_library_folder() __asm__("__wrap__ZN5assay7sandbox3hip14library_folderB5cxx11Ev");
}

/// Returns the device files of the first NVIDIA GPU.
std::vector<std::string> nvidia_device_files(const AmdPlaces&) {
  std::vector<std::string> files;
  for (const std::string& path :
       {std::string("/dev/nvidiactl"), std::string("/dev/nvidia-uvm"), gpu_node(0).value_or("")}) {
    if (!path.empty() && ::access(path.c_str(), F_OK) == 0) files.push_back(path);
  }
  return files;
}

/// Returns the target of the GPU, such as "cuda:90", from its compute capability.
Result<std::string> nvidia_target_at(const std::string& pci_place, const AmdPlaces&) {
  const hip_over_cuda::CudaCalls& calls = hip_over_cuda::cuda_calls();
  if (!calls.problem.empty()) return fail(ErrorCode::unavailable, calls.problem);
  int count = 0;
  calls.cuDeviceGetCount(&count);
  for (int device = 0; device < count; ++device) {
    char place[64] = {};
    int major = 0, minor = 0;
    if (calls.cuDeviceGetPCIBusId(place, sizeof place - 1, device) != cuda::kSuccess ||
        pci_place != place)
      continue;
    if (calls.cuDeviceGetAttribute(&major, cuda::kAttributeComputeCapabilityMajor, device) !=
            cuda::kSuccess ||
        calls.cuDeviceGetAttribute(&minor, cuda::kAttributeComputeCapabilityMinor, device) !=
            cuda::kSuccess)
      break;
    return "cuda:" + std::to_string(major * 10 + minor);
  }
  return fail(ErrorCode::unavailable, "CUDA knows no GPU at " + pci_place);
}

/// Returns the folder of libcuda.so.1: the CUDA driver loads its compiler from there, inside the
/// jail. The stand-in library is loaded already.
std::string hip::cuda_library_folder() {
  Dl_info facts{};
  const hip_over_cuda::CudaCalls& calls = hip_over_cuda::cuda_calls();
  if (!calls.problem.empty() || ::dladdr(reinterpret_cast<void*>(calls.cuInit), &facts) == 0 ||
      facts.dli_fname == nullptr)
    return "/usr/lib";
  const std::string path = facts.dli_fname;
  return path.substr(0, path.rfind('/'));
}

}  // namespace assay::sandbox
