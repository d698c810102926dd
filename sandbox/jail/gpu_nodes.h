// Maps a device name cuda:N to the device file of that GPU. Only GPUs whose device file exists are
// numbered, in the order of their PCI addresses (as in CUDA under CUDA_DEVICE_ORDER=PCI_BUS_ID). In
// a jail that shows the device file of only one GPU, this GPU is number 0.
//
//   Result<std::string> node = gpu_node(1);    // outside the jail, for example "/dev/nvidia3"
//   Result<int> ordinal = gpu_ordinal(*node);  // in a jail that shows only this file: 0
//
// If CUDA_VISIBLE_DEVICES is a list of numbers, cuda:N is the GPU at position N of the list (from
// 0). With the same variables, torch uses the same GPU for cuda:N. The functions keep no state.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"

namespace assay::sandbox {

/// The folders that the functions read. Tests use other folders.
struct GpuPlaces {
  // Contains a folder for each GPU of the machine. The folder's name is the GPU's PCI address.
  std::string proc = "/proc/driver/nvidia/gpus";
  std::string dev = "/dev";
};

inline constexpr const char* kVisibleDevices = "CUDA_VISIBLE_DEVICES";
inline constexpr const char* kVisibleHipDevices = "HIP_VISIBLE_DEVICES";
inline constexpr const char* kDeviceOrder = "CUDA_DEVICE_ORDER";
inline constexpr const char* kByPciAddress = "PCI_BUS_ID";

/// Returns the device files of this machine's GPUs in PCI order. If the driver does not report PCI
/// addresses, the files are in the order of their numbers.
std::vector<std::string> gpu_nodes(const GpuPlaces& places = {});
/// Returns the device file of cuda:`index`. `visible` is a list as in CUDA_VISIBLE_DEVICES. Without
/// a list, all GPUs are visible. Errors: unavailable if there is no such GPU, and the message lists
/// the existing GPUs; invalid_argument if the list does not name a GPU by its number.
Result<std::string> gpu_node(int index, const std::optional<std::string>& visible,
                             const GpuPlaces& places = {});
/// Returns the device file of cuda:`index`. Uses this process's CUDA_VISIBLE_DEVICES as the list.
Result<std::string> gpu_node(int index);
/// Returns CUDA's number for the GPU whose device file is `node`. The number is valid in a process
/// that sees the same device files as this process, if CUDA_DEVICE_ORDER is PCI_BUS_ID and
/// CUDA_VISIBLE_DEVICES is not set. Errors: unavailable if the device file does not exist.
Result<int> gpu_ordinal(const std::string& node, const GpuPlaces& places = {});

/// The settings that let a process outside of a jail see only the GPU of its device: the name of
/// the device to use, and the environment variables to set.
struct VisibleGpus {
  std::string device;
  std::vector<std::pair<std::string, std::string>> environment;
};
/// Returns the settings for `device`: for cuda:N in the numbering of this process, exactly this
/// GPU, and for `cpu`, no GPU. Code of a reference asks torch whether there is a GPU, and a
/// reference on the CPU must not use one. Returns nothing if the device is of another kind or if
/// the GPU does not exist.
std::optional<VisibleGpus> visible_gpus(const std::string& device, const GpuPlaces& places = {});

}  // namespace assay::sandbox
