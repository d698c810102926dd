#include "sandbox/job/harness_digest.h"

#include <filesystem>
#include <fstream>
#include <string>

#include "base/handle.h"
#include "tests/catch.h"

using namespace assay::sandbox;

TEST_CASE("the digest of the harness depends on the names and contents of its sources") {
  const std::filesystem::path folder =
      std::filesystem::temp_directory_path() / assay::new_handle("harness_digest");
  std::filesystem::remove_all(folder);
  std::filesystem::create_directories(folder / "inner");
  std::ofstream(folder / "inner/a.py") << "x = 1\n";
  const std::string first = harness_digest(folder);
  std::filesystem::create_directories(folder / "native");
  std::ofstream(folder / "native/native.cc") << "int x;\n";
  CHECK(harness_digest(folder) == first);
  std::ofstream(folder / "inner/a.py") << "x = 2\n";
  const std::string second = harness_digest(folder);
  CHECK(second != first);
  std::filesystem::rename(folder / "inner/a.py", folder / "inner/b.py");
  const std::string third = harness_digest(folder);
  CHECK(third != second);
  std::filesystem::create_directories(folder / "include");
  std::ofstream(folder / "include/math.h") << "#define X 1\n";
  CHECK(harness_digest(folder) != third);
  std::filesystem::remove_all(folder);
}
