#include "server/app/install_layout.h"

#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "tests/catch.h"

using namespace assay;
using namespace assay::server;
namespace fs = std::filesystem;

namespace {

/// A folder below /tmp, with files that are empty.
class Disk {
 public:
  Disk() {
    std::string pattern = "/tmp/assay-layout-XXXXXX";
    REQUIRE(::mkdtemp(pattern.data()) != nullptr);
    folder = pattern;
  }
  Disk(const Disk&) = delete;
  Disk& operator=(const Disk&) = delete;
  ~Disk() { fs::remove_all(folder); }

  fs::path file(const fs::path& place) const {
    fs::create_directories((folder / place).parent_path());
    std::ofstream(folder / place) << "";
    return folder / place;
  }
  /// Adds the parts by which a root is known.
  fs::path root(const fs::path& place) const {
    file(place / "sandbox/harness/main.py");
    fs::create_directories(folder / place / "operators");
    return folder / place;
  }

  fs::path folder;
};

}  // namespace

TEST_CASE("a program of a build folder belongs to the source tree above it") {
  const Disk disk;
  const fs::path tree = disk.root("tree");
  // CMake makes folders with the names of the parts in the build folder.
  fs::create_directories(tree / "build/release/operators");
  fs::create_directories(tree / "build/release/sandbox/harness/native");
  const auto layout = find_layout(tree / "build/release/bin/assay", "");
  REQUIRE(layout);
  CHECK(layout->root == tree);
  CHECK(layout->binaries == tree / "build/release/bin");
  CHECK_FALSE(layout->installed);
  CHECK(default_python(*layout, disk.folder / "data") == tree / ".venv/bin/python");
}

TEST_CASE("an installed program finds its root, and a Python that has torch and Triton") {
  const Disk disk;
  const fs::path packages = "venv/lib/python3.11/site-packages";
  const fs::path root = disk.root(packages / "assay/_bundle");
  const auto layout = find_layout(root / "bin/assay", "");
  REQUIRE(layout);
  CHECK(layout->root == root);
  CHECK(layout->installed);
  const fs::path data = disk.folder / "data";
  CHECK(default_python(*layout, data) == python_of_setup(data));
  const fs::path python = disk.file("venv/bin/python3");
  disk.file(packages / "torch/__init__.py");
  CHECK(default_python(*layout, data) == python_of_setup(data));
  disk.file(packages / "triton/__init__.py");
  CHECK(default_python(*layout, data) == python);
}

TEST_CASE("ASSAY_ROOT names another root, and a folder that is none is refused") {
  const Disk disk;
  const fs::path root = disk.root("other");
  const auto layout = find_layout("/nowhere/bin/assay", root.string());
  REQUIRE(layout);
  CHECK(layout->root == root);
  for (const std::string& chosen : {disk.folder.string(), std::string()}) {
    const auto none = find_layout("/nowhere/bin/assay", chosen);
    REQUIRE_FALSE(none);
    CHECK(none.error().code == ErrorCode::not_found);
    CHECK(none.error().message.find("ASSAY_ROOT") != std::string::npos);
  }
}
