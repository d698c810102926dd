// Tests make_read_only() with mounts below the mount, with and without the system call
// mount_setattr.
#include "sandbox/jail/mounts.h"

#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstddef>
#include <filesystem>
#include <string>

#include "sandbox/jail/namespaces.h"
#include "tests/catch.h"
#include "tests/sandbox/jail/attempts.h"

using namespace assay;
using namespace assay::sandbox;
using namespace assay::sandbox::testing;

namespace {

/// Makes mount_setattr fail as in a kernel that does not have it.
bool forget_mount_setattr() {
  constexpr unsigned kMountSetattr = 442;
  std::array<sock_filter, 4> code = {
      sock_filter BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      sock_filter BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, kMountSetattr, 0, 1),
      sock_filter BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS),
      sock_filter BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
  const sock_fprog program = {code.size(), code.data()};
  return ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
         ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

/// Mounts a file system in `folder` and another one in `folder`/inner, makes `folder` read-only,
/// and tries to write into both.
int try_to_write(const std::string& folder, bool has_mount_setattr) {
  if (!enter_user_namespace(0) || !enter_mount_namespace()) return kNoJail;
  const std::string inner = folder + "/inner";
  if (!mount_tmpfs(folder, 1 << 20, 64, "700") || ::mkdir(inner.c_str(), 0700) != 0 ||
      !mount_tmpfs(inner, 1 << 20, 64, "700"))
    return kNoJail;
  if (!has_mount_setattr && !forget_mount_setattr()) return kNoJail;
  if (!make_read_only(folder, false)) return 1;
  for (const std::string& place : {folder, inner}) {
    if (!denied(::open((place + "/new").c_str(), O_CREAT | O_WRONLY, 0600), EROFS))
      return place == folder ? 2 : 3;
  }
  return 0;
}

}  // namespace

TEST_CASE("a mount becomes read-only together with the mounts below it") {
  std::string folder = "/tmp/assay-mounts-XXXXXX";
  REQUIRE(::mkdtemp(folder.data()) != nullptr);
  for (const bool has_mount_setattr : {true, false}) {
    INFO(has_mount_setattr);
    const pid_t child = ::fork();
    if (child == 0) ::_exit(try_to_write(folder, has_mount_setattr));
    const int status = status_of(child);
    if (status == kNoJail)
      WARN("mount namespaces are not permitted on this machine");
    else
      CHECK(status == 0);
  }
  std::filesystem::remove(folder);
}
