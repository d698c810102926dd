#include "sandbox/jail/amd_nodes.h"

#include <unistd.h>

#include <charconv>
#include <filesystem>
#include <fstream>
#include <map>
#include <optional>
#include <string_view>

namespace assay::sandbox {
namespace {

constexpr std::int64_t kMajorStep = 10'000, kMinorStep = 100;

std::map<std::string, std::int64_t> properties_of(const std::filesystem::path& node) {
  std::ifstream file(node / "properties");
  std::map<std::string, std::int64_t> found;
  std::string key;
  for (std::int64_t value = 0; file >> key >> value;) found[key] = value;
  return found;
}

std::optional<std::int64_t> number_in(std::string_view text, int base) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, base);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

/// A GPU's address on the PCI bus. `location` combines the bus, the device and the function into
/// one number, as the kernel driver does.
struct PciPlace {
  std::int64_t domain = 0, location = 0;
};

/// Parses "0000:c1:00.0". The parts are the domain, the bus, the device and the function.
std::optional<PciPlace> parse_place(std::string_view text) {
  const auto first = text.find(':'), second = text.find(':', first + 1),
             dot = text.find('.', second + 1);
  if (first == text.npos || second == text.npos || dot == text.npos) return std::nullopt;
  const auto domain = number_in(text.substr(0, first), 16),
             bus = number_in(text.substr(first + 1, second - first - 1), 16);
  const auto device = number_in(text.substr(second + 1, dot - second - 1), 16),
             function = number_in(text.substr(dot + 1), 16);
  if (!domain || !bus || !device || !function) return std::nullopt;
  return PciPlace{*domain, *bus << 8 | *device << 3 | *function};
}

bool may_open(const std::string& path) { return ::access(path.c_str(), R_OK | W_OK) == 0; }
bool is_there(const std::string& path) { return ::access(path.c_str(), F_OK) == 0; }

}  // namespace

std::string amd_target_of_version(std::int64_t gfx_target_version) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  const auto digit = [&](std::int64_t value) {
    return value >= 0 && value < 16 ? std::string(1, kDigits[static_cast<std::size_t>(value)])
                                    : std::to_string(value);
  };
  return "hip:gfx" + std::to_string(gfx_target_version / kMajorStep) +
         digit(gfx_target_version / kMinorStep % kMinorStep) +
         digit(gfx_target_version % kMinorStep);
}

Result<std::string> amd_target_at(const std::string& pci_place, const AmdPlaces& places) {
  const std::optional<PciPlace> wanted = parse_place(pci_place);
  std::error_code error;
  for (std::filesystem::directory_iterator node(places.topology, error), end; !error && node != end;
       node.increment(error)) {
    std::map<std::string, std::int64_t> found = properties_of(node->path());
    const std::int64_t version = found["gfx_target_version"];  // 0 for a CPU
    if (wanted && version > 0 && found.contains("location_id") &&
        found["location_id"] == wanted->location && found["domain"] == wanted->domain)
      return amd_target_of_version(version);
  }
  return fail(ErrorCode::unavailable, "no GPU at " + pci_place + " in " + places.topology);
}

AmdMachine read_amd_machine(const AmdPlaces& places) {
  AmdMachine machine;
  machine.compute = places.dev + "/kfd";
  machine.has_compute = is_there(machine.compute);
  machine.compute_accessible = may_open(machine.compute);
  std::map<std::int64_t, AmdGpu> ordered;
  std::error_code error;
  for (std::filesystem::directory_iterator node(places.topology, error), end; !error && node != end;
       node.increment(error)) {
    const std::optional<std::int64_t> number = number_in(node->path().filename().string(), 10);
    std::map<std::string, std::int64_t> properties = properties_of(node->path());
    const std::int64_t version = properties["gfx_target_version"];  // 0 for a CPU
    if (!number || version <= 0) continue;
    AmdGpu gpu;
    gpu.target = amd_target_of_version(version);
    gpu.render = places.dev + "/dri/renderD" + std::to_string(properties["drm_render_minor"]);
    gpu.accessible = may_open(gpu.render);
    ordered[*number] = std::move(gpu);
  }
  for (auto& [number, gpu] : ordered) machine.gpus.push_back(std::move(gpu));
  return machine;
}

std::string amd_problem(const AmdMachine& machine) {
  const std::string user = std::to_string(::getuid());
  if (!machine.has_compute && machine.gpus.empty())
    return "this machine has no AMD GPU that the kernel driver amdgpu knows: " + machine.compute +
           " is missing; install the driver (amdgpu-dkms), or pass --device /dev/kfd and --device "
           "/dev/dri to the container";
  if (!machine.has_compute)
    return machine.compute +
           " is missing, although the kernel driver knows AMD GPUs; pass --device /dev/kfd to the "
           "container";
  if (!machine.compute_accessible)
    return "user " + user + " may not open " + machine.compute +
           "; add the user to the groups render and video, and log in again";
  if (machine.gpus.empty())
    return machine.compute +
           " exists, but the kernel driver's table has no GPU; `dmesg | grep "
           "amdgpu` says why";
  for (const AmdGpu& gpu : machine.gpus) {
    if (!is_there(gpu.render))
      return gpu.render + " is missing; pass --device /dev/dri to the container";
    if (!gpu.accessible)
      return "user " + user + " may not open " + gpu.render +
             "; add the user to the groups render and video, and log in again";
  }
  return "";
}

std::vector<std::string> amd_device_files(const AmdPlaces& places) {
  const AmdMachine machine = read_amd_machine(places);
  std::vector<std::string> files;
  if (machine.has_compute) files.push_back(machine.compute);
  for (const AmdGpu& gpu : machine.gpus) {
    if (is_there(gpu.render)) files.push_back(gpu.render);
  }
  return files;
}

}  // namespace assay::sandbox
