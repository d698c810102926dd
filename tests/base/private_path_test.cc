#include "base/private_path.h"

#include <stdlib.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "tests/catch.h"

namespace assay {
namespace {

namespace fs = std::filesystem;

unsigned mode_of(const fs::path& path) {
  struct stat info {};
  REQUIRE(::stat(path.c_str(), &info) == 0);
  return info.st_mode & 07777U;
}

/// A new folder. The destructor removes it.
class Folder {
 public:
  Folder() { REQUIRE(::mkdtemp(name_.data()) != nullptr); }
  ~Folder() { fs::remove_all(name_); }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  fs::path path() const { return name_; }

 private:
  std::string name_ = "/tmp/assay_private_XXXXXX";
};

/// Sets the usual mask of a shell while it exists, so that a careless file would be readable.
struct UsualMask {
  const mode_t old = ::umask(022);
  ~UsualMask() { ::umask(old); }
};

}  // namespace

TEST_CASE("private path: new folders and files are private, and existing ones stay") {
  const UsualMask mask;
  const Folder folder;
  const fs::path made = folder.path() / "parent" / "state";
  REQUIRE(create_private_directory(made));
  CHECK(mode_of(made) == 0700);
  REQUIRE(create_private_file(made / "store"));
  CHECK(mode_of(made / "store") == 0600);
  std::ofstream(made / "store") << "content";
  REQUIRE(create_private_file(made / "store"));
  CHECK(fs::file_size(made / "store") == 7);
  REQUIRE(create_private_directory(made));
  CHECK(create_private_file(folder.path() / "none" / "store").error().code == ErrorCode::io);
  CHECK(create_private_directory(made / "store" / "x").error().code == ErrorCode::io);
}

TEST_CASE("private path: wide permissions are narrowed and reported") {
  const UsualMask mask;
  const Folder folder;
  const fs::path file = folder.path() / "file";
  std::ofstream(file) << "x";
  const auto was = narrow_permissions(file);
  REQUIRE(was);
  CHECK(*was == 0644U);
  CHECK(octal_mode(**was) == "0644");
  CHECK(mode_of(file) == 0600);
  CHECK_FALSE(narrow_permissions(file).value_or(0U).has_value());
  CHECK(narrow_permissions(folder.path() / "none").error().code == ErrorCode::io);
}

TEST_CASE("private path: a folder that is meant to be shared stays shared") {
  const Folder folder;
  const fs::path shared = folder.path() / "tmp";
  REQUIRE(fs::create_directory(shared));
  REQUIRE(::chmod(shared.c_str(), 01777) == 0);
  CHECK_FALSE(narrow_permissions(shared).value_or(0U).has_value());
  CHECK(mode_of(shared) == 01777);
}

}  // namespace assay
