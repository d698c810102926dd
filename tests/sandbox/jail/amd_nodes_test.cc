#include "sandbox/jail/amd_nodes.h"

#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "tests/catch.h"

using namespace assay;
using namespace assay::sandbox;
namespace fs = std::filesystem;

namespace {

/// Folders like those of a machine with AMD GPUs.
class AmdFolders {
 public:
  AmdFolders() {
    fs::remove_all(root_);
    fs::create_directories(root_ / "dev/dri");
    fs::create_directories(root_ / "nodes");
  }
  ~AmdFolders() { fs::remove_all(root_); }
  void file(const std::string& path) { std::ofstream(root_ / path) << "x"; }
  void node(const std::string& number, int version, int minor) {
    fs::create_directories(root_ / "nodes" / number);
    std::ofstream(root_ / "nodes" / number / "properties")
        << "cpu_cores_count 0\ndrm_render_minor " << minor << "\ngfx_target_version " << version
        << "\nlocation_id 49408\ndomain 0\n";
  }
  AmdPlaces places() const { return {(root_ / "nodes").string(), (root_ / "dev").string()}; }
  std::string dev(const std::string& name) const { return (root_ / "dev" / name).string(); }
  std::string problem() const { return amd_problem(read_amd_machine(places())); }

 private:
  fs::path root_ = fs::temp_directory_path() / ("assay-amd-" + std::to_string(::getpid()));
};

bool amd_has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("AMD's GPUs are those of the kernel driver's table, in its order") {
  AmdFolders machine;
  machine.file("dev/kfd");
  machine.file("dev/dri/renderD128");
  machine.file("dev/dri/renderD129");
  machine.file("dev/dri/renderD130");  // a GPU of another vendor
  machine.node("0", 0, 0);             // a CPU
  machine.node("10", 90500, 129);
  machine.node("2", 90402, 128);
  const AmdMachine found = read_amd_machine(machine.places());
  REQUIRE(found.gpus.size() == 2);
  CHECK((found.gpus[0].target == "hip:gfx942" && found.gpus[1].target == "hip:gfx950"));
  CHECK((found.gpus[0].accessible && amd_problem(found).empty()));
  CHECK(amd_device_files(machine.places()) ==
        std::vector<std::string>{machine.dev("kfd"), machine.dev("dri/renderD128"),
                                 machine.dev("dri/renderD129")});
}

TEST_CASE("the target comes from the kernel driver's description of the GPU at its PCI address") {
  CHECK(amd_target_of_version(90010) == "hip:gfx90a");
  CHECK(amd_target_of_version(110001) == "hip:gfx1101");
  AmdFolders machine;
  machine.node("0", 0, 0);
  CHECK_FALSE(amd_target_at("0000:c1:00.0", machine.places()));  // a CPU
  machine.node("1", 90402, 128);
  CHECK(amd_target_at("0000:c1:00.0", machine.places()).value() == "hip:gfx942");
  for (const char* other : {"0001:c1:00.0", "0000:c2:00.0", "", "0000", "0000:c1", "0000:c1:00"})
    CHECK_FALSE(amd_target_at(other, machine.places()));
  const auto missing = amd_target_at("x:y:z.w", machine.places());
  REQUIRE_FALSE(missing);
  CHECK(amd_has(missing.error().message, "no GPU at x:y:z.w"));
}

TEST_CASE("each reason why AMD's GPUs cannot be opened has its own remedy") {
  AmdFolders machine;
  CHECK(amd_has(machine.problem(), "has no AMD GPU"));
  CHECK(amd_has(machine.problem(), "amdgpu-dkms"));
  CHECK(amd_device_files(machine.places()).empty());
  machine.node("1", 90402, 128);
  CHECK(amd_has(machine.problem(), "pass --device /dev/kfd"));
  machine.file("dev/kfd");
  CHECK(amd_has(machine.problem(), "pass --device /dev/dri"));
  machine.file("dev/dri/renderD128");
  CHECK(machine.problem().empty());
}

TEST_CASE("a GPU that this user may not open names the groups") {
  AmdMachine machine;
  machine.compute = "/dev/kfd";
  machine.has_compute = true;
  CHECK(amd_has(amd_problem(machine), "may not open /dev/kfd; add the user to the groups render"));
  machine.compute_accessible = true;
  CHECK(amd_has(amd_problem(machine), "table has no GPU"));
  machine.gpus.push_back({"hip:gfx942", "/", false});
  CHECK(amd_has(amd_problem(machine), "may not open /; add the user to the groups render"));
}
