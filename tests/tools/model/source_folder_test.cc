#include "tools/model/source_folder.h"

#include <stdlib.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include <atomic>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>

#include "tests/catch.h"

namespace assay::tools {
namespace {

namespace fs = std::filesystem;

constexpr std::int64_t kLimit = 1'000;

/// A folder `allowed` with a file "a.py" and a subfolder "sub" with "b.cu", beside a file
/// "secret.py" that no path may reach. The destructor removes all.
class Tree {
 public:
  Tree() {
    REQUIRE(::mkdtemp(name_.data()) != nullptr);
    fs::create_directories(allowed() / "sub");
    write(allowed() / "a.py", "a = 1\n");
    write(allowed() / "sub/b.cu", "/* b */\n");
    write(outside() / "secret.py", "secret = 1\n");
  }
  ~Tree() { fs::remove_all(name_); }
  Tree(const Tree&) = delete;
  Tree& operator=(const Tree&) = delete;
  fs::path outside() const { return name_; }
  fs::path allowed() const { return outside() / "allowed"; }
  static void write(const fs::path& path, const std::string& text) {
    std::ofstream(path, std::ios::binary) << text;
  }
  /// Reads a file. Returns its bytes, or the error's code and message.
  std::string read(const std::string& path) const {
    const auto folder = SourceFolder::open(allowed());
    REQUIRE(folder);
    const auto bytes = folder->read(path, kLimit);
    return bytes ? *bytes
                 : std::string(to_string(bytes.error().code)) + ": " + bytes.error().message;
  }

 private:
  std::string name_ = "/tmp/assay_folder_XXXXXX";
};

bool begins(const std::string& text, const std::string& start) { return text.rfind(start, 0) == 0; }

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("files of the folder are read by relative and by absolute paths") {
  const Tree tree;
  CHECK(tree.read("a.py") == "a = 1\n");
  CHECK(tree.read("./sub/../a.py") == "a = 1\n");
  CHECK(tree.read("sub/b.cu") == "/* b */\n");
  CHECK(tree.read((tree.allowed() / "sub/b.cu").string()) == "/* b */\n");
  CHECK(tree.read((tree.allowed() / "sub/../a.py").string()) == "a = 1\n");
}

TEST_CASE("a folder can be named with a slash at its end, or by a symbolic link") {
  const Tree tree;
  const fs::path link = tree.outside() / "link";
  fs::create_directory_symlink(tree.allowed(), link);
  for (const std::string& name :
       {tree.allowed().string() + "/", link.string(), link.string() + "/"}) {
    INFO(name);
    const auto folder = SourceFolder::open(name);
    REQUIRE(folder);
    CHECK_FALSE(folder->name().ends_with('/'));
    CHECK(folder->read("a.py", kLimit) == "a = 1\n");
    CHECK(folder->read(folder->name() + "/a.py", kLimit) == "a = 1\n");
    CHECK(folder->read((tree.allowed() / "a.py").string(), kLimit) == "a = 1\n");
  }
}

TEST_CASE("a path that leads out of the folder is refused, whether the file exists or not") {
  const Tree tree;
  for (const char* file : {"secret.py", "nothing.py"}) {
    INFO(file);
    CHECK(begins(tree.read("../" + std::string(file)), "invalid_argument: "));
    CHECK(contains(tree.read("../" + std::string(file)), "leads out of the folder"));
    CHECK(contains(tree.read("sub/../../" + std::string(file)), "leads out of the folder"));
    CHECK(contains(tree.read((tree.outside() / file).string()), "is not in the folder"));
    CHECK(contains(tree.read((tree.allowed() / ".." / file).string()), "is not in the folder"));
    fs::create_symlink(tree.outside() / file, tree.allowed() / "absolute.py");
    fs::create_symlink("../" + std::string(file), tree.allowed() / "relative.py");
    CHECK(contains(tree.read("absolute.py"), "leads out of the folder"));
    CHECK(contains(tree.read("relative.py"), "leads out of the folder"));
    fs::remove(tree.allowed() / "absolute.py");
    fs::remove(tree.allowed() / "relative.py");
  }
  CHECK(contains(tree.read("/proc/self/cmdline"), "is not in the folder"));
  CHECK(contains(tree.read(tree.allowed().string() + "-more/a.py"), "is not in the folder"));
  fs::create_directory_symlink("..", tree.allowed() / "up");
  CHECK(contains(tree.read("up/secret.py"), "leads out of the folder"));
}

TEST_CASE("a symbolic link may lead to another file of the folder") {
  const Tree tree;
  fs::create_symlink("../a.py", tree.allowed() / "sub/link.py");
  CHECK(tree.read("sub/link.py") == "a = 1\n");
  fs::create_symlink("loop.py", tree.allowed() / "loop.py");
  CHECK(contains(tree.read("loop.py"), "too many symbolic links"));
}

TEST_CASE("only regular files are read") {
  const Tree tree;
  CHECK(contains(tree.read("sub"), "'sub' is a folder, not a regular file"));
  CHECK(contains(tree.read("."), "is a folder"));
  CHECK(contains(tree.read(tree.allowed().string()), "is not in the folder"));
  REQUIRE(::mkfifo((tree.allowed() / "fifo").c_str(), 0600) == 0);
  CHECK(contains(tree.read("fifo"), "is a FIFO, not a regular file"));  // and does not wait
  const int fd = ::socket(AF_UNIX, SOCK_STREAM, 0);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  const std::string name = (tree.allowed() / "socket").string();
  std::memcpy(address.sun_path, name.c_str(), name.size() + 1);
  REQUIRE(::bind(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0);
  CHECK(contains(tree.read("socket"), "is a socket or a device, not a regular file"));
  ::close(fd);
}

TEST_CASE("a file that is missing, too large or hidden has a clear error") {
  const Tree tree;
  CHECK(begins(tree.read("none.py"), "not_found: there is no file 'none.py' in "));
  CHECK(begins(tree.read("a.py/b.py"), "not_found: there is no file"));
  CHECK(begins(tree.read("a.py/"), "not_found: there is no file"));
  Tree::write(tree.allowed() / "full.py", std::string(kLimit, '#'));
  CHECK(tree.read("full.py").size() == kLimit);
  Tree::write(tree.allowed() / "large.py", std::string(kLimit + 1, '#'));
  CHECK(contains(tree.read("large.py"), "larger than 1000 bytes, the limit for a source"));
  CHECK(contains(tree.read(""), "`path` is empty"));
  CHECK(contains(tree.read(std::string("a.py\0b", 6)), "zero byte"));
  CHECK(contains(tree.read(std::string(300, 'x')), "too long for a path"));
  if (::geteuid() != 0) {
    fs::permissions(tree.allowed() / "a.py", fs::perms::none);
    CHECK(begins(tree.read("a.py"), "permission_denied: "));
  }
}

TEST_CASE("a folder that is missing or is a file cannot be opened") {
  const Tree tree;
  for (const fs::path& path : {tree.allowed() / "none", tree.allowed() / "a.py"}) {
    const auto folder = SourceFolder::open(path);
    REQUIRE_FALSE(folder);
    CHECK(folder.error().code == ErrorCode::not_found);
    CHECK(contains(folder.error().message, path.string()));
  }
}

TEST_CASE("a folder that is swapped for a link while files are read leads nowhere else") {
  const Tree tree;
  const fs::path sub = tree.allowed() / "sub", away = tree.allowed() / "away";
  Tree::write(tree.outside() / "b.cu", "secret\n");
  const auto folder = SourceFolder::open(tree.allowed());
  REQUIRE(folder);
  std::atomic<bool> stop = false;
  std::thread swapper([&] {
    while (!stop) {
      fs::rename(sub, away);
      fs::create_directory_symlink("..", sub);
      fs::remove(sub);
      fs::rename(away, sub);
    }
  });
  int right = 0;
  for (int i = 0; i < 20'000; ++i) {
    const auto bytes = folder->read("sub/b.cu", kLimit);
    if (!bytes) continue;
    REQUIRE(*bytes == "/* b */\n");
    ++right;
  }
  stop = true;
  swapper.join();
  CHECK(right > 0);
}

}  // namespace assay::tools
