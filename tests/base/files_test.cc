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

TEST_CASE("process stat: a name with parentheses and spaces is no field") {
  const auto stat = parse_process_stat("7 (a) b (c d) S 3 7 7 0 -1 4194560 1 2 3 4 50 60 70 80\n");
  REQUIRE(stat);
  CHECK(stat->pid == 7);
  CHECK(stat->value(StatField::parent) == 3);
  CHECK(stat->value(StatField::flags) == 4'194'560);
  CHECK(stat->value(StatField::user_ticks) == 50);
  CHECK(stat->value(StatField::system_ticks) == 60);
  CHECK(stat->value(StatField::children_user_ticks) == 70);
  CHECK(stat->value(StatField::children_system_ticks) == 80);
  CHECK_FALSE(stat->value(StatField::threads));
}

TEST_CASE("process stat: a text without a name") {
  for (const char* text : {"", "7", "7 (a"}) CHECK_FALSE(parse_process_stat(text));
}

TEST_CASE("process stat: this process") {
  const auto stat = parse_process_stat(read_small_file("/proc/self/stat"));
  REQUIRE(stat);
  CHECK(stat->pid == ::getpid());
  CHECK(stat->value(StatField::parent) == ::getppid());
  CHECK(stat->value(StatField::threads) >= 1);
  CHECK(stat->value(StatField::start_ticks) > 0);
}
