// Finds AMD's GPUs in the kernel driver's tables, and says why a GPU cannot be used. No function
// loads a library.
//
//   AmdMachine machine = read_amd_machine();
//   std::string problem = amd_problem(machine);  // empty if the GPUs can be opened
//
// The ROCm runtime opens the compute node /dev/kfd and one render node for each GPU. The functions
// keep no state.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"

namespace assay::sandbox {

/// The folders that the functions read. Tests use other folders.
struct AmdPlaces {
  std::string topology = "/sys/class/kfd/kfd/topology/nodes";
  std::string dev = "/dev";
};

struct AmdGpu {
  std::string target;  // "hip:gfx942"
  std::string render;  // "/dev/dri/renderD128"
  bool accessible = false;
};

struct AmdMachine {
  std::string compute;  // "/dev/kfd"
  bool has_compute = false;
  bool compute_accessible = false;
  std::vector<AmdGpu> gpus;  // in the order of the kernel driver, which is the order of HIP
};

AmdMachine read_amd_machine(const AmdPlaces& places = {});

/// Returns why the GPUs cannot be opened, with the remedy. Returns an empty text if they can.
std::string amd_problem(const AmdMachine& machine);

/// Returns the existing device files that HIP opens: the compute node and the render node of each
/// GPU. The render nodes of GPUs that are not used are among them, because ROCm's library refuses
/// to start if a GPU of the kernel driver's table has no render node (libhsakmt, fmm.c).
std::vector<std::string> amd_device_files(const AmdPlaces& places = {});

/// Returns the target of a GPU whose version number in the kernel driver is `gfx_target_version`.
/// For example, the number 90010 stands for the major version 9, the minor version 0 and the
/// stepping 10. Its target is "hip:gfx90a", because the minor version and the stepping are written
/// in hexadecimal.
std::string amd_target_of_version(std::int64_t gfx_target_version);

/// Returns the target of the GPU at the PCI address `pci_place` ("0000:c1:00.0"), such as
/// "hip:gfx90a". The HIP runtime reports the target only in a struct whose layout differs between
/// versions. Error: unavailable if the kernel driver's table has no GPU at this address.
Result<std::string> amd_target_at(const std::string& pci_place, const AmdPlaces& places = {});

}  // namespace assay::sandbox
