// Which device file is cuda:N. GPUs count in the order of their PCI addresses (as CUDA counts them
// under CUDA_DEVICE_ORDER=PCI_BUS_ID), among those whose file is there; a jail that shows the file
// of one GPU makes that one number 0 inside.
//
//   Result<std::string> node = gpu_node(1);            // outside: "/dev/nvidia3"
//   ... enter a jail that shows this file alone ...
//   const int ordinal = gpu_ordinal(*node);            // inside: 0, for cuDeviceGet
//
// Where CUDA_VISIBLE_DEVICES is set, as numbers, cuda:N is its N-th entry: the same GPU as for
// torch in this environment. Functions of what they read, without state.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"

namespace assay::sandbox {

/// Where to look; tests look elsewhere.
struct GpuPlaces {
  std::string proc =
      "/proc/driver/nvidia/gpus";  // a folder for each GPU of the machine, named by its PCI address
  std::string dev = "/dev";
};

inline constexpr const char* kVisibleDevices = "CUDA_VISIBLE_DEVICES";
inline constexpr const char* kDeviceOrder = "CUDA_DEVICE_ORDER";
inline constexpr const char* kByPciAddress = "PCI_BUS_ID";

/// Device files of the GPUs that are there, in PCI order; by number where the driver does not tell
/// the addresses.
std::vector<std::string> gpu_nodes(const GpuPlaces& places = {});
/// The device file of cuda:`index`. `visible`: a list as in CUDA_VISIBLE_DEVICES, or nothing for
/// all. Errors: unavailable, naming what is there; invalid_argument for a list that names GPUs
/// otherwise than by number.
Result<std::string> gpu_node(int index, const std::optional<std::string>& visible,
                             const GpuPlaces& places = {});
/// As above, with this process's CUDA_VISIBLE_DEVICES.
Result<std::string> gpu_node(int index);
/// What CUDA_DEVICE_ORDER=PCI_BUS_ID without CUDA_VISIBLE_DEVICES calls this GPU in this process.
/// Errors: unavailable when its file is not there.
Result<int> gpu_ordinal(const std::string& node, const GpuPlaces& places = {});

/// A process outside of a jail that sees one GPU: what it calls that GPU, and what its environment
/// has to say for it.
struct LoneGpu {
  std::string device;
  std::vector<std::pair<std::string, std::string>> environment;
};
/// `device`: cuda:N, in this process's count. Nothing for a device of another kind, and for a GPU
/// that is not there.
std::optional<LoneGpu> lone_gpu(const std::string& device, const GpuPlaces& places = {});

}  // namespace assay::sandbox
