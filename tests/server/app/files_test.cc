#include "server/app/files.h"

#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "tests/catch.h"

using namespace assay;
using namespace assay::server;
namespace fs = std::filesystem;

namespace {

struct ScratchFile {
  explicit ScratchFile(const std::string& bytes)
      : path(fs::temp_directory_path() / ("assay-source-" + std::to_string(::getpid()) + ".py")) {
    std::ofstream(path, std::ios::binary) << bytes;
  }
  ~ScratchFile() { fs::remove(path); }
  fs::path path;
};

Result<std::string> read_bytes(const std::string& bytes) {
  const ScratchFile file(bytes);
  return read_source(file.path.string(), 100);
}

}  // namespace

TEST_CASE("a source is read unchanged") {
  CHECK(*read_bytes("def f():\n    return '\xc3\xa9'\n") == "def f():\n    return '\xc3\xa9'\n");
  CHECK(read_bytes(std::string(100, 'x'))->size() == 100);
}

TEST_CASE("a file that cannot be a submission is refused with the reason") {
  CHECK(read_source("/nonexistent/x.py", 100).error().code == ErrorCode::not_found);
  CHECK(read_source("/tmp", 100).error().code == ErrorCode::not_found);
  for (const auto& [bytes, word] : std::vector<std::pair<std::string, std::string>>{
           {"", "empty"},
           {" \n\t", "empty"},
           {std::string("a\0b", 3), "binary"},
           {"\xff\xfe", "binary"},
           {"\xc3", "binary"},
           {std::string(101, 'x'), "larger than 100"}}) {
    const auto source = read_bytes(bytes);
    INFO(word);
    REQUIRE_FALSE(source);
    CHECK(source.error().code == ErrorCode::corrupt);
    CHECK(source.error().message.find(word) != std::string::npos);
  }
}

TEST_CASE("artifacts are written into one folder, whatever their names are") {
  const fs::path folder =
      fs::temp_directory_path() / ("assay-artifacts-" + std::to_string(::getpid())) / "new";
  const std::string bytes("a\0b", 3);
  const auto files = write_artifacts({{"plan", "small cuda:90", bytes},
                                      {"ptx", "../../etc/passwd", "x"},
                                      {"plan", "small cuda:90", "second"},
                                      {"plan", "small cuda:90-2", "third"},
                                      {"ptx", "", ""}},
                                     folder);
  REQUIRE(files);
  CHECK(*files == std::vector<fs::path>{folder / "small-cuda-90.plan",
                                        folder / "------etc-passwd.ptx",
                                        folder / "small-cuda-90-2.plan",
                                        folder / "small-cuda-90-2-2.plan", folder / "unnamed.ptx"});
  std::ifstream stream(folder / "small-cuda-90.plan", std::ios::binary);
  CHECK(std::string(std::istreambuf_iterator<char>(stream), {}) == bytes);
  fs::remove_all(folder.parent_path());
}

TEST_CASE("a folder that cannot be made is an error with its path") {
  const auto files = write_artifacts({}, "/proc/assay/none");
  REQUIRE_FALSE(files);
  CHECK(files.error().message.find("/proc/assay/none") != std::string::npos);
}
