#include "server/observe/line_file.h"

#include <filesystem>
#include <string>

#include "base/files.h"
#include "tests/catch.h"

namespace assay::server {
namespace {

/// A scratch folder for the files of one test.
struct LogFolder {
  LogFolder() {
    std::string name = (std::filesystem::temp_directory_path() / "assay-log-XXXXXX").string();
    REQUIRE(::mkdtemp(name.data()) != nullptr);
    path = name;
  }
  ~LogFolder() { std::filesystem::remove_all(path); }
  std::filesystem::path path;
};

}  // namespace

TEST_CASE("line file: lines are appended, also after a rotation") {
  const LogFolder folder;
  const std::string path = folder.path / "log";
  {
    auto file = LineFile::open("audit", path);
    REQUIRE(file);
    (*file)->append("one");
    std::filesystem::rename(path, path + ".1");
    (*file)->append("two");
    REQUIRE((*file)->reopen());
    (*file)->append("three");
    CHECK((*file)->lines() == 3);
    CHECK((*file)->failures() == 0);
  }
  auto again = LineFile::open("audit", path);
  REQUIRE(again);
  (*again)->append("four");
  CHECK(read_small_file(path + ".1") == "one\ntwo\n");
  CHECK(read_small_file(path) == "three\nfour\n");
  CHECK((std::filesystem::status(path).permissions() & std::filesystem::perms::mask) ==
        (std::filesystem::perms::owner_read | std::filesystem::perms::owner_write));
}

TEST_CASE("line file: a line that cannot be written is counted") {
  auto file = LineFile::open("audit", "/dev/full");
  REQUIRE(file);
  (*file)->append("lost");
  (*file)->append("lost too");
  CHECK((*file)->lines() == 0);
  CHECK((*file)->failures() == 2);
}

TEST_CASE("line file: a path that cannot be opened is an error, and the old file stays") {
  const LogFolder folder;
  CHECK(LineFile::open("audit", folder.path).error().code == ErrorCode::io);
  const std::string inner = folder.path / "inner";
  std::filesystem::create_directory(inner);
  auto file = LineFile::open("audit", inner + "/log");
  REQUIRE(file);
  std::filesystem::rename(inner, folder.path / "moved");
  CHECK((*file)->reopen().error().code == ErrorCode::io);
  (*file)->append("still here");
  CHECK(read_small_file(folder.path / "moved" / "log") == "still here\n");
}

}  // namespace assay::server
