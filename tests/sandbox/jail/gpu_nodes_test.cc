#include "sandbox/jail/gpu_nodes.h"

#include <stdlib.h>

#include <filesystem>
#include <fstream>

#include "base/handle.h"
#include "tests/catch.h"

using namespace assay;
using namespace assay::sandbox;
namespace fs = std::filesystem;

namespace {

/// A machine on which the GPUs' PCI order differs from the order of their device files.
struct Machine {
  std::string folder = fs::temp_directory_path() / new_handle("assay-test");
  GpuPlaces places{folder + "/proc", folder + "/dev"};

  Machine() { fs::create_directories(places.dev); }
  ~Machine() { fs::remove_all(folder); }
  Machine(const Machine&) = delete;
  Machine& operator=(const Machine&) = delete;
  void add(const std::string& address, int minor) {
    fs::create_directories(places.proc + "/" + address);
    std::ofstream(places.proc + "/" + address + "/information")
        << "Model: \t\t NVIDIA H200\nDevice Minor: \t " << minor << "\nGPU Excluded:\t No\n";
    show(minor);
  }
  void show(int minor) const { std::ofstream(node(minor)) << ""; }
  std::string node(int minor) const { return places.dev + "/nvidia" + std::to_string(minor); }
};

template <typename T>
bool says(const Result<T>& refused, const std::string& text) {
  return !refused && refused.error().message.find(text) != std::string::npos;
}

}  // namespace

TEST_CASE("GPUs are numbered by PCI address among those whose device file exists") {
  Machine machine;
  machine.add("0000:8d:00.0", 2);
  machine.add("0000:1b:00.0", 10);
  machine.add("0001:00:00.0", 0);
  CHECK(gpu_nodes(machine.places) ==
        std::vector<std::string>{machine.node(10), machine.node(2), machine.node(0)});
  fs::remove(machine.node(10));
  CHECK(gpu_nodes(machine.places) == std::vector<std::string>{machine.node(2), machine.node(0)});
  CHECK(gpu_node(1, std::nullopt, machine.places).value() == machine.node(0));
}

TEST_CASE("GPUs are in the order of their numbers if the driver tells no addresses") {
  Machine machine;
  for (const int minor : {10, 2}) machine.show(minor);
  for (const char* other : {"/nvidiactl", "/nvidia-uvm", "/nvidia-caps", "/null"})
    std::ofstream(machine.places.dev + other) << "";
  CHECK(gpu_nodes(machine.places) == std::vector<std::string>{machine.node(2), machine.node(10)});
}

TEST_CASE("in a jail that shows one GPU it is number 0") {
  Machine machine;
  machine.add("0000:1b:00.0", 0);
  machine.add("0000:8d:00.0", 1);
  const std::string node = gpu_node(1, std::nullopt, machine.places).value();
  CHECK(gpu_ordinal(node, machine.places).value() == 1);
  fs::remove(machine.node(0));
  CHECK(gpu_ordinal(node, machine.places).value() == 0);
  fs::remove(node);
  CHECK(says(gpu_ordinal(node, machine.places), "nvidia1 is not there"));
}

TEST_CASE("CUDA_VISIBLE_DEVICES chooses and orders") {
  Machine machine;
  machine.add("0000:1b:00.0", 0);
  machine.add("0000:8d:00.0", 1);
  machine.add("0000:9a:00.0", 2);
  const auto node = [&](int index, const std::string& visible) {
    return gpu_node(index, visible, machine.places);
  };
  CHECK(node(0, "2, 0").value() == machine.node(2));
  CHECK(node(1, "2, 0").value() == machine.node(0));
  CHECK(says(node(2, "2, 0"), "valid: cuda:0 to cuda:1 (CUDA_VISIBLE_DEVICES is '2, 0')"));
  CHECK_FALSE(node(1, "0,7,1"));  // as in CUDA, the list ends at the first GPU that does not exist
  CHECK(says(node(0, ""), "no NVIDIA GPU's device file is here"));
  CHECK_FALSE(node(0, "-1"));
  CHECK(node(0, "GPU-6deb1d87").error().code == ErrorCode::invalid_argument);
}

TEST_CASE("a GPU that does not exist is an error that names those that do") {
  Machine machine;
  CHECK(says(gpu_node(0, std::nullopt, machine.places), "no NVIDIA GPU's device file"));
  machine.add("0000:1b:00.0", 0);
  CHECK(says(gpu_node(1, std::nullopt, machine.places),
             "there is no cuda:1; valid: cuda:0 to cuda:0"));
  CHECK_FALSE(gpu_node(-1, std::nullopt, machine.places));
}

TEST_CASE(
    "a process that sees one GPU gets its number in the environment and uses it as number 0") {
  Machine machine;
  machine.add("0000:1b:00.0", 0);
  machine.add("0000:8d:00.0", 1);
  machine.add("0000:9a:00.0", 2);
  ::unsetenv(kVisibleDevices);
  const std::optional<VisibleGpus> second = visible_gpus("cuda:1", machine.places);
  REQUIRE(second);
  CHECK(second->device == "cuda:0");
  using Words = std::vector<std::pair<std::string, std::string>>;
  CHECK(second->environment ==
        Words{{"CUDA_VISIBLE_DEVICES", "1"}, {"CUDA_DEVICE_ORDER", "PCI_BUS_ID"}});
  ::setenv(kVisibleDevices, "2,0", 1);
  CHECK(visible_gpus("cuda:0", machine.places)->environment.front().second == "2");
  CHECK_FALSE(visible_gpus("cuda:2", machine.places));
  ::unsetenv(kVisibleDevices);
  CHECK(visible_gpus("cpu", machine.places)->environment ==
        Words{{"CUDA_VISIBLE_DEVICES", ""}, {"HIP_VISIBLE_DEVICES", ""}});
  for (const char* other : {"fake", "cuda:3", "cuda:", "cuda:x"})
    CHECK_FALSE(visible_gpus(other, machine.places));
}
