// Tests Landlock alone, without the isolation layers that forbid the same things. The test runs as
// root, in a folder to which every user may write.
#include "sandbox/jail/landlock.h"

#include <fcntl.h>
#include <netinet/in.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string>

#include "base/unique_fd.h"
#include "tests/catch.h"
#include "tests/sandbox/jail/attempts.h"

using namespace assay;
using namespace assay::sandbox;
using namespace assay::sandbox::testing;

namespace {

/// Two folders. The restricted child may write to the first folder only.
struct Folders {
  Folders() {
    std::string pattern = "/tmp/assay-landlock-XXXXXX";
    REQUIRE(::mkdtemp(pattern.data()) != nullptr);
    root = pattern;
    REQUIRE(::mkdir((root + "/own").c_str(), 0777) == 0);
    REQUIRE(::mkdir((root + "/other").c_str(), 0777) == 0);
    REQUIRE(UniqueFd(::open((root + "/other/file").c_str(), O_CREAT | O_WRONLY | O_CLOEXEC, 0666)));
  }
  Folders(const Folders&) = delete;
  Folders& operator=(const Folders&) = delete;
  ~Folders() { CHECK(std::filesystem::remove_all(root) > 0); }
  std::string root;
};

bool opens(const std::string& path, int flags) {
  return static_cast<bool>(UniqueFd(::open(path.c_str(), flags | O_CLOEXEC, 0600)));
}

/// Runs `attempt` in a restricted child and returns the child's exit status.
template <class Attempt>
int restricted(const Folders& folders, Attempt attempt) {
  const pid_t child = ::fork();
  if (child == 0) {
    ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    if (!restrict_with_landlock({folders.root + "/own"})) ::_exit(kNoJail);
    ::_exit(attempt());
  }
  return status_of(child);
}

bool supported(int version) {
  if (landlock_version() >= version) return true;
  WARN("this kernel's Landlock is version " << landlock_version() << "; " << version
                                            << " is needed");
  return false;
}

int connect_to(const sockaddr* address, socklen_t size, int family) {
  const UniqueFd socket(::socket(family, SOCK_STREAM | SOCK_CLOEXEC, 0));
  return ::connect(socket.get(), address, size) == 0 ? 0 : errno;
}

}  // namespace

TEST_CASE("files may be read everywhere and written only in the own folder") {
  if (!supported(1)) return;
  const Folders folders;
  CHECK(restricted(folders, [&] {
          const std::string own = folders.root + "/own", other = folders.root + "/other";
          if (!opens(other + "/file", O_RDONLY)) return 1;
          if (!opens(own + "/new", O_CREAT | O_RDWR)) return 2;
          if (opens(other + "/file", O_WRONLY) || errno != EACCES) return 3;
          if (opens(other + "/new", O_CREAT | O_WRONLY) || errno != EACCES) return 4;
          if (::unlink((other + "/file").c_str()) == 0 || errno != EACCES) return 5;
          if (::mkdir((other + "/folder").c_str(), 0700) == 0) return 6;
          if (::rename((own + "/new").c_str(), (other + "/moved").c_str()) == 0) return 7;
          if (::mknod((own + "/device").c_str(), S_IFCHR | 0600, 259) == 0 || errno != EACCES)
            return 8;
          if (opens("/proc/self/comm", O_WRONLY) || errno != EACCES) return 9;
          if (!opens("/dev/null", O_RDWR)) return 10;
          return ::unlink((own + "/new").c_str()) == 0 ? 0 : 11;
        }) == 0);
}

TEST_CASE("no TCP port can be bound or reached") {
  if (!supported(4)) return;
  const Folders folders;
  const UniqueFd listener(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  REQUIRE(::bind(listener.get(), reinterpret_cast<sockaddr*>(&address), size) == 0);
  REQUIRE(::listen(listener.get(), 1) == 0);
  REQUIRE(::getsockname(listener.get(), reinterpret_cast<sockaddr*>(&address), &size) == 0);
  REQUIRE(connect_to(reinterpret_cast<sockaddr*>(&address), size, AF_INET) == 0);
  CHECK(restricted(folders, [&] {
          return connect_to(reinterpret_cast<sockaddr*>(&address), size, AF_INET) == EACCES ? 0 : 1;
        }) == 0);
}

TEST_CASE("no signal and no connection to an abstract socket reaches the outside") {
  if (!supported(6)) return;
  const Folders folders;
  const UniqueFd listener(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  const std::string name = "assay-landlock-" + std::to_string(::getpid());
  std::memcpy(address.sun_path + 1, name.data(), name.size());
  const auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size());
  REQUIRE(::bind(listener.get(), reinterpret_cast<sockaddr*>(&address), size) == 0);
  REQUIRE(::listen(listener.get(), 1) == 0);
  const pid_t parent = ::getpid();
  CHECK(restricted(folders, [&] {
          if (connect_to(reinterpret_cast<sockaddr*>(&address), size, AF_UNIX) != EPERM) return 1;
          if (::kill(parent, 0) == 0 || errno != EPERM) return 2;
          return ::kill(::getpid(), 0) == 0 ? 0 : 3;
        }) == 0);
}
