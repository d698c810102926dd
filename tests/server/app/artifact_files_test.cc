#include "server/app/artifact_files.h"

#include <fstream>
#include <iterator>

#include "tests/catch.h"

using namespace assay;
using namespace assay::server;
namespace fs = std::filesystem;

TEST_CASE("artifacts become files of a folder, whatever they are called") {
  const fs::path folder =
      fs::temp_directory_path() / ("assay-artifacts-" + std::to_string(::getpid())) / "new";
  const std::string bytes("a\0b", 3);
  const auto files = write_artifacts({{"plan", "small cuda:90", bytes},
                                      {"ptx", "../../etc/passwd", "x"},
                                      {"plan", "small cuda:90", "second"},
                                      {"ptx", "", ""}},
                                     folder);
  REQUIRE(files);
  CHECK(*files == std::vector<fs::path>{folder / "small-cuda-90.plan",
                                        folder / "------etc-passwd.ptx",
                                        folder / "small-cuda-90-2.plan", folder / "unnamed.ptx"});
  std::ifstream stream(folder / "small-cuda-90.plan", std::ios::binary);
  CHECK(std::string(std::istreambuf_iterator<char>(stream), {}) == bytes);
  fs::remove_all(folder.parent_path());
}

TEST_CASE("a folder that cannot be made is an error with its path") {
  const auto files = write_artifacts({}, "/proc/assay/none");
  REQUIRE_FALSE(files);
  CHECK(files.error().message.find("/proc/assay/none") != std::string::npos);
}
