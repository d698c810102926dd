#include "server/app/workspace.h"

#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "tests/catch.h"

using namespace assay;
using namespace assay::server;
namespace fs = std::filesystem;

namespace {

/// A folder below /tmp for installed programs. While the object exists, PATH and CUDA_HOME point
/// into this folder.
class Machine {
 public:
  Machine() {
    std::string pattern = "/tmp/assay-machine-XXXXXX";
    REQUIRE(::mkdtemp(pattern.data()) != nullptr);
    root_ = pattern;
    path_ = std::getenv("PATH");
    ::setenv("PATH", (root_ / "bin").c_str(), 1);
    ::setenv("CUDA_HOME", (root_ / "cuda").c_str(), 1);
  }
  Machine(const Machine&) = delete;
  Machine& operator=(const Machine&) = delete;
  ~Machine() {
    ::setenv("PATH", path_.c_str(), 1);
    ::unsetenv("CUDA_HOME");
    fs::remove_all(root_);
  }
  std::string install(const fs::path& place) const {
    fs::create_directories((root_ / place).parent_path());
    std::ofstream(root_ / place) << "#!/bin/sh\n";
    fs::permissions(root_ / place, fs::perms(0755));
    return root_ / place;
  }
  fs::path python() const { return root_ / "venv/bin/python"; }

 private:
  fs::path root_;
  std::string path_;
};

}  // namespace

TEST_CASE("the sanitizer is found on PATH, in a CUDA toolkit, and in the packages of Python") {
  const Machine machine;
  // Each folder has a higher precedence than the folders before it.
  for (const char* place :
       {"venv/lib/python3.11/site-packages/nvidia/cu13/compute-sanitizer/compute-sanitizer",
        "cuda/compute-sanitizer/compute-sanitizer", "bin/compute-sanitizer"}) {
    const std::string installed = machine.install(place);
    CHECK(find_sanitizer(machine.python()) == installed);
  }
}

TEST_CASE("ASSAY_PYTHON may be relative, or a name that PATH has") {
  const Machine machine;
  const std::string installed = machine.install("bin/python3");
  const char* given = std::getenv("ASSAY_PYTHON");
  const std::string before = given == nullptr ? "" : given;
  const auto python_of = [](const char* name) {
    ::setenv("ASSAY_PYTHON", name, 1);
    const Result<Paths> paths = find_paths();
    REQUIRE(paths);
    return paths->python;
  };
  CHECK(python_of("python3") == installed);
  CHECK(python_of("venv/bin/python") == fs::current_path() / "venv/bin/python");
  CHECK(python_of("/opt/python") == "/opt/python");
  CHECK(python_of("") == find_paths()->root / ".venv/bin/python");
  if (given == nullptr)
    ::unsetenv("ASSAY_PYTHON");
  else
    ::setenv("ASSAY_PYTHON", before.c_str(), 1);
}

TEST_CASE("a device has judges for a limited number of imported suites") {
  const Result<Paths> found = find_paths();
  REQUIRE(found);
  const auto catalog = operators::Catalog::load(found->operators());
  REQUIRE(catalog);
  Paths paths = *found;
  for (int i = 0; i < sandbox::kMostImportedSuites; ++i)
    paths.imported_suites.push_back("/suites/" + std::to_string(i));
  CHECK(add_imported_folders(*catalog, "", paths));
  paths.imported_suites.emplace_back("/suites/one_more");
  const Status refused = add_imported_folders(*catalog, "", paths);
  REQUIRE_FALSE(refused);
  CHECK(refused.error().message.find("at most 12") != std::string::npos);
}
