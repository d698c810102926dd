#include "sandbox/jail/namespaces.h"

#include <fcntl.h>
#include <net/if.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>

#include "base/files.h"
#include "base/unique_fd.h"

namespace assay::sandbox {
namespace {

constexpr std::string_view kHostName = "assay";

// The first of the host's user ids that slots use. It is far above the ids of accounts, services
// and subordinate-id ranges. Each jail uses its own block of ids. So two supervisors do not share a
// user id, for which the kernel counts processes.
constexpr std::uint32_t kHostSlotBase = 0x7000'0000;
constexpr std::uint32_t kHostSlotBlock = 1024;
constexpr std::uint32_t kHostSlotBlocks = 0x10000;

Status write_file(const std::string& path, const std::string& text) {
  UniqueFd fd(::open(path.c_str(), O_WRONLY | O_CLOEXEC));
  if (!fd) return fail_errno("open " + path);
  if (::write(fd.get(), text.data(), text.size()) != static_cast<ssize_t>(text.size()))
    return fail_errno("write " + path);
  return {};
}

std::string map_text(std::uint32_t outside, int slots) {
  std::string text = "0 " + std::to_string(outside) + " 1\n";
  if (slots > 0) {
    const std::uint32_t base =
        kHostSlotBase + (static_cast<std::uint32_t>(::getpid()) % kHostSlotBlocks) * kHostSlotBlock;
    text += std::to_string(kFirstSlotUid) + " " + std::to_string(base) + " " +
            std::to_string(slots) + "\n";
  }
  return text;
}

/// Writes an id map of several ranges for this process. The kernel accepts such a map only from a
/// process that has the needed capability in the parent namespace. So a forked child, which stays
/// in the parent namespace, writes the map.
class MapWriter {
 public:
  static Result<MapWriter> start(const std::string& uids, const std::string& gids) {
    std::array<int, 2> ends{};
    if (::pipe2(ends.data(), O_CLOEXEC) != 0) return fail_errno("pipe2");
    MapWriter writer;
    UniqueFd read_end(ends[0]);
    writer.go_ = UniqueFd(ends[1]);
    const std::string own = "/proc/" + std::to_string(::getpid());
    writer.pid_ = ::fork();
    if (writer.pid_ < 0) return fail_errno("fork");
    if (writer.pid_ == 0) {
      writer.go_.reset();
      char ignored = 0;
      if (::read(read_end.get(), &ignored, 1) != 1) ::_exit(1);
      ::_exit(write_file(own + "/uid_map", uids) && write_file(own + "/gid_map", gids) ? 0 : 1);
    }
    return writer;
  }

  /// Tells the child to write the map, or to exit without writing if `write` is false. Waits until
  /// the child has ended.
  bool finish(bool write) {
    const bool told = write && ::write(go_.get(), "x", 1) == 1;
    go_.reset();
    int status = 0;
    while (::waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
    }
    return told && WIFEXITED(status) && WEXITSTATUS(status) == 0;
  }

 private:
  UniqueFd go_;
  pid_t pid_ = -1;
};

Status enter(int flag, const char* call) {
  if (::unshare(flag) != 0) return fail_errno(call);
  return {};
}

}  // namespace

Result<int> enter_user_namespace(int slots) {
  const uid_t uid = ::geteuid();
  const gid_t gid = ::getegid();
  if (uid == 0 && slots > 0) {
    Result<MapWriter> writer = MapWriter::start(map_text(uid, slots), map_text(gid, slots));
    if (!writer) return fail(writer.error());
    if (::unshare(CLONE_NEWUSER) != 0) {
      const int error = errno;
      writer->finish(false);
      return fail_errno("unshare(CLONE_NEWUSER)", error);
    }
    if (writer->finish(true)) return slots;
  } else if (::unshare(CLONE_NEWUSER) != 0) {
    return fail_errno("unshare(CLONE_NEWUSER)");
  }
  // A process may map one id without privileges, but only after it has given up setgroups.
  if (Status denied = write_file("/proc/self/setgroups", "deny"); !denied)
    return fail(denied.error());
  if (Status uids = write_file("/proc/self/uid_map", map_text(uid, 0)); !uids)
    return fail(uids.error());
  if (Status gids = write_file("/proc/self/gid_map", map_text(gid, 0)); !gids)
    return fail(gids.error());
  return 0;
}

Result<uid_t> slot_user(int slot) {
  const std::string map = read_small_file("/proc/self/uid_map");
  if (map.empty()) return fail(ErrorCode::unavailable, "/proc/self/uid_map cannot be read");
  const char* at = map.c_str();
  while (true) {
    char* after = nullptr;
    const std::uint64_t inside = std::strtoull(at, &after, 10);
    if (after == at) break;  // the end of the map
    const std::uint64_t outside = std::strtoull(after, &after, 10);
    const std::uint64_t count = std::strtoull(after, &after, 10);
    at = after;
    // The process is in the host's own user namespace if the id map has such an entry. There
    // kFirstSlotUid is an ordinary account, so the slots use ids from kHostSlotBase on.
    if (inside == 0 && outside == 0 && count > kHostSlotBase) {
      if (::geteuid() == 0) return kHostSlotBase + static_cast<uid_t>(slot);
      return fail(ErrorCode::unavailable, "only root can change user ids without a user namespace");
    }
    const std::uint64_t wanted = kFirstSlotUid + static_cast<std::uint64_t>(slot);
    if (inside == kFirstSlotUid && wanted < inside + count) return static_cast<uid_t>(wanted);
  }
  return fail(ErrorCode::unavailable, "only one user id is mapped into the jail (more need root)");
}

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
  // The kernel refuses unshare(CLONE_NEWPID) while children are still set to start in another pid
  // namespace. So this setting is undone first.
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
