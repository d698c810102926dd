#include "base/files.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "base/handle.h"
#include "base/unique_fd.h"
#include "tests/catch.h"

using namespace assay;

namespace {

/// Limits the size of files to `bytes` while this object exists. For the process, this limit has
/// the effect of a full disk.
struct SmallFiles {
  explicit SmallFiles(rlim_t bytes) {
    ::getrlimit(RLIMIT_FSIZE, &before);
    rlimit now = before;
    now.rlim_cur = bytes;
    handler = std::signal(SIGXFSZ, SIG_IGN);
    ::setrlimit(RLIMIT_FSIZE, &now);
  }
  ~SmallFiles() {
    ::setrlimit(RLIMIT_FSIZE, &before);
    std::signal(SIGXFSZ, handler);
  }
  rlimit before{};
  void (*handler)(int) = nullptr;
};

struct Scratch {
  std::filesystem::path file = std::filesystem::temp_directory_path() / new_handle("append_test");
  UniqueFd fd{::open(file.c_str(), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0600)};
  ~Scratch() { std::filesystem::remove(file); }
  std::string text() const {
    std::ifstream stream(file, std::ios::binary);
    return std::string(std::istreambuf_iterator<char>(stream), {});
  }
};

}  // namespace

TEST_CASE("a line that does not fit leaves the file unchanged") {
  Scratch scratch;
  REQUIRE(append_line(scratch.fd.get(), "f", "one"));
  {
    const SmallFiles full(10);
    const Status cut = append_line(scratch.fd.get(), "f", "far too long for ten bytes");
    REQUIRE_FALSE(cut);
    CHECK(cut.error().code == ErrorCode::io);
    CHECK(cut.error().message.find("write f") != std::string::npos);
    CHECK(scratch.text() == "one\n");
    CHECK(append_line(scratch.fd.get(), "f", "two"));
  }
  CHECK(scratch.text() == "one\ntwo\n");
}

TEST_CASE("reserved space does not change the size and can be freed") {
  Scratch scratch;
  REQUIRE(append_line(scratch.fd.get(), "f", "one"));
  REQUIRE(reserve_space(scratch.fd.get(), "f", 1 << 20));
  CHECK(std::filesystem::file_size(scratch.file) == 4);
  REQUIRE(append_line(scratch.fd.get(), "f", "two"));
  REQUIRE(release_space(scratch.fd.get(), "f"));
  CHECK(scratch.text() == "one\ntwo\n");
}

using namespace assay;

TEST_CASE("a kernel file is read whole, or up to the limit, or not at all") {
  CHECK(read_small_file("/proc/self/status").find("\nPid:") != std::string::npos);
  CHECK(read_small_file("/proc/self/status", 5).size() == 5);
  CHECK(read_small_file("/nonexistent").empty());
}
