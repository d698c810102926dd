// Maps cuda:N to its device file. GPUs are numbered by PCI address (as CUDA does under
// CUDA_DEVICE_ORDER=PCI_BUS_ID) among those whose device file exists. In a jail that shows the file
// of one GPU, that GPU is number 0.
//
//   Result<std::string> node = gpu_node(1);    // outside the jail, for example "/dev/nvidia3"
//   Result<int> ordinal = gpu_ordinal(*node);  // in a jail that shows only this file: 0
//
// If CUDA_VISIBLE_DEVICES lists numbers, cuda:N is its N-th entry, which is the same GPU as for
// torch in this environment. The functions keep no state.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"

namespace assay::sandbox {

/// The folders to read. Tests use others.
struct GpuPlaces {
  // Has a folder for each GPU of the machine, named by its PCI address.
  std::string proc = "/proc/driver/nvidia/gpus";
  std::string dev = "/dev";
};

inline constexpr const char* kVisibleDevices = "CUDA_VISIBLE_DEVICES";
inline constexpr const char* kDeviceOrder = "CUDA_DEVICE_ORDER";
inline constexpr const char* kByPciAddress = "PCI_BUS_ID";

/// Returns the device files of the GPUs of this machine in PCI order. If the driver does not tell
/// their addresses, they are in the order of their numbers.
std::vector<std::string> gpu_nodes(const GpuPlaces& places = {});
/// Returns the device file of cuda:`index`. `visible` is a list as in CUDA_VISIBLE_DEVICES; without
/// it all GPUs are visible. Errors: unavailable, with the GPUs that exist; invalid_argument for a
/// list that names a GPU by something else than a number.
Result<std::string> gpu_node(int index, const std::optional<std::string>& visible,
                             const GpuPlaces& places = {});
/// Does the same with this process's CUDA_VISIBLE_DEVICES.
Result<std::string> gpu_node(int index);
/// Returns the number of this GPU in this process under CUDA_DEVICE_ORDER=PCI_BUS_ID, without
/// CUDA_VISIBLE_DEVICES. Errors: unavailable if its file does not exist.
Result<int> gpu_ordinal(const std::string& node, const GpuPlaces& places = {});

/// Lets a process outside a jail see exactly one GPU: the device name that it uses, and the
/// environment variables to set.
struct LoneGpu {
  std::string device;
  std::vector<std::pair<std::string, std::string>> environment;
};
/// `device` is cuda:N in the numbering of this process. Returns nothing for a device of another
/// kind and for a GPU that does not exist.
std::optional<LoneGpu> lone_gpu(const std::string& device, const GpuPlaces& places = {});

}  // namespace assay::sandbox
