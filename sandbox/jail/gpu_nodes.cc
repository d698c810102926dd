#include "sandbox/jail/gpu_nodes.h"

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <string_view>

namespace assay::sandbox {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kNode = "nvidia";
constexpr std::string_view kCudaPrefix = "cuda:";
constexpr std::string_view kMinor = "Device Minor:";  // starts a line of a GPU's file `information`

std::optional<int> to_number(std::string_view text) {
  const auto first = std::min(text.find_first_not_of(" \t"), text.size());
  text = text.substr(first, text.find_last_not_of(" \t") + 1 - first);
  int number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size() || number < 0) return std::nullopt;
  return number;
}

std::optional<int> minor_of(const fs::path& gpu) {
  std::ifstream information(gpu / "information");
  for (std::string line; std::getline(information, line);) {
    if (line.starts_with(kMinor)) return to_number(std::string_view(line).substr(kMinor.size()));
  }
  return std::nullopt;
}

std::string node_of(const GpuPlaces& places, int minor) {
  return places.dev + "/" + std::string(kNode) + std::to_string(minor);
}

/// Returns the device files in the order of the GPUs' PCI addresses. The addresses can be sorted as
/// text, because their parts are hexadecimal numbers of equal width.
std::vector<std::string> nodes_by_address(const GpuPlaces& places) {
  std::map<std::string, int> minors;
  std::error_code error;
  for (fs::directory_iterator gpu(places.proc, error), end; !error && gpu != end;
       gpu.increment(error)) {
    if (const std::optional<int> minor = minor_of(gpu->path()))
      minors[gpu->path().filename()] = *minor;
  }
  std::vector<std::string> nodes;
  for (const auto& [address, minor] : minors) {
    if (fs::exists(node_of(places, minor), error)) nodes.push_back(node_of(places, minor));
  }
  return nodes;
}

std::vector<std::string> nodes_by_number(const GpuPlaces& places) {
  std::map<int, std::string> nodes;
  std::error_code error;
  for (fs::directory_iterator file(places.dev, error), end; !error && file != end;
       file.increment(error)) {
    const std::string name = file->path().filename();
    if (!name.starts_with(kNode)) continue;
    if (const std::optional<int> minor = to_number(std::string_view(name).substr(kNode.size())))
      nodes[*minor] = file->path();
  }
  std::vector<std::string> ordered;
  for (const auto& [minor, path] : nodes) ordered.push_back(path);
  return ordered;
}

/// Returns the device files of the GPUs in `list`, in the order of `list`. `list` is a value of
/// CUDA_VISIBLE_DEVICES. As in CUDA, the first GPU that does not exist ends the list.
Result<std::vector<std::string>> chosen(const std::vector<std::string>& nodes,
                                        std::string_view list) {
  std::vector<std::string> found;
  while (!list.empty()) {
    const std::string_view entry = list.substr(0, list.find(','));
    list.remove_prefix(std::min(entry.size() + 1, list.size()));
    if (entry == "-1") break;
    const std::optional<int> number = to_number(entry);
    if (!number)
      return fail(ErrorCode::invalid_argument,
                  std::string(kVisibleDevices) + " names '" + std::string(entry) +
                      "'; only numbers are understood here, such as 0,1");
    if (static_cast<std::size_t>(*number) >= nodes.size()) break;
    found.push_back(nodes[static_cast<std::size_t>(*number)]);
  }
  return found;
}

/// Returns the value of CUDA_VISIBLE_DEVICES in this process's environment.
std::optional<std::string> visible_here() {
  const char* visible = std::getenv(kVisibleDevices);
  return visible == nullptr ? std::nullopt : std::optional<std::string>(visible);
}

}  // namespace

std::vector<std::string> gpu_nodes(const GpuPlaces& places) {
  std::vector<std::string> nodes = nodes_by_address(places);
  return nodes.empty() ? nodes_by_number(places) : nodes;
}

Result<std::string> gpu_node(int index, const std::optional<std::string>& visible,
                             const GpuPlaces& places) {
  std::vector<std::string> nodes = gpu_nodes(places);
  if (visible) {
    Result<std::vector<std::string>> some = chosen(nodes, *visible);
    if (!some) return fail(some.error());
    nodes = std::move(*some);
  }
  if (index >= 0 && static_cast<std::size_t>(index) < nodes.size())
    return nodes[static_cast<std::size_t>(index)];
  const std::string there = nodes.empty()
                                ? "no NVIDIA GPU's device file is here"
                                : "valid: cuda:0 to cuda:" + std::to_string(nodes.size() - 1);
  return fail(ErrorCode::unavailable,
              "there is no cuda:" + std::to_string(index) + "; " + there +
                  (visible ? " (CUDA_VISIBLE_DEVICES is '" + *visible + "')" : ""));
}

Result<std::string> gpu_node(int index) { return gpu_node(index, visible_here(), {}); }

Result<int> gpu_ordinal(const std::string& node, const GpuPlaces& places) {
  const std::vector<std::string> nodes = gpu_nodes(places);
  const auto found = std::find(nodes.begin(), nodes.end(), node);
  if (found == nodes.end()) return fail(ErrorCode::unavailable, node + " is not there");
  return static_cast<int>(found - nodes.begin());
}

std::optional<VisibleGpus> visible_gpus(const std::string& device, const GpuPlaces& places) {
  // ROCm's torch uses both variables.
  if (device == "cpu") return VisibleGpus{"cpu", {{kVisibleDevices, ""}, {kVisibleHipDevices, ""}}};
  if (!device.starts_with(kCudaPrefix)) return std::nullopt;
  const std::optional<int> index = to_number(std::string_view(device).substr(kCudaPrefix.size()));
  if (!index) return std::nullopt;
  const Result<std::string> node = gpu_node(*index, visible_here(), places);
  const Result<int> ordinal = node ? gpu_ordinal(*node, places) : fail(node.error());
  if (!ordinal) return std::nullopt;
  return VisibleGpus{"cuda:0",
                     {{kVisibleDevices, std::to_string(*ordinal)}, {kDeviceOrder, kByPciAddress}}};
}

}  // namespace assay::sandbox
