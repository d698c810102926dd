#include "sandbox/jail/namespaces.h"

#include <fcntl.h>
#include <net/if.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstring>
#include <string_view>

#include "base/unique_fd.h"

namespace assay::sandbox {
namespace {

constexpr std::string_view kHostName = "assay";

Status enter(int flag, const char* call) {
  if (::unshare(flag) != 0) return fail_errno(call);
  return {};
}

}  // namespace

Status enter_network_namespace() {
  if (Status entered = enter(CLONE_NEWNET, "unshare(CLONE_NEWNET)"); !entered) return entered;
  UniqueFd socket(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  if (!socket) return fail_errno("socket for lo");
  ifreq request{};
  std::strncpy(request.ifr_name, "lo", IFNAMSIZ - 1);
  request.ifr_flags = IFF_UP | IFF_RUNNING;
  if (::ioctl(socket.get(), SIOCSIFFLAGS, &request) != 0) return fail_errno("SIOCSIFFLAGS lo");
  return {};
}

Status enter_ipc_namespace() { return enter(CLONE_NEWIPC, "unshare(CLONE_NEWIPC)"); }

Status enter_uts_namespace() {
  if (Status entered = enter(CLONE_NEWUTS, "unshare(CLONE_NEWUTS)"); !entered) return entered;
  if (::sethostname(kHostName.data(), kHostName.size()) != 0) return fail_errno("sethostname");
  return {};
}

Status make_child_pid_namespace() {
  if (::unshare(CLONE_NEWPID) == 0) return {};
  if (errno != EINVAL) return fail_errno("unshare(CLONE_NEWPID)");
  // The kernel refuses this while children are already set to start in another namespace.
  if (Status back = leave_child_pid_namespace(); !back) return back;
  return enter(CLONE_NEWPID, "unshare(CLONE_NEWPID)");
}

Status leave_child_pid_namespace() {
  UniqueFd own(::open("/proc/self/ns/pid", O_RDONLY | O_CLOEXEC));
  if (!own) return fail_errno("open /proc/self/ns/pid");
  if (::setns(own.get(), CLONE_NEWPID) != 0) return fail_errno("setns to the own pid namespace");
  return {};
}

}  // namespace assay::sandbox
