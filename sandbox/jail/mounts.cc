#include "sandbox/jail/mounts.h"

#include <fcntl.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdint>

#include "base/unique_fd.h"

namespace assay::sandbox {
namespace {

// mount_setattr is younger than some C libraries: its number (the same on every architecture) and arguments, as the kernel defines them.
constexpr long kMountSetattr = 442;
constexpr unsigned kAtRecursive = 0x8000;
constexpr std::uint64_t kAttrReadOnly = 1, kAttrNoSuid = 2, kAttrNoDev = 4;
struct MountAttributes {
  std::uint64_t set = 0, clear = 0, propagation = 0, user_namespace = 0;
};

Status do_mount(const char* source, const std::string& target, const char* type, unsigned long flags, const char* options) {
  if (::mount(source, target.c_str(), type, flags, options) != 0) return fail_errno("mount " + std::string(type != nullptr ? type : source) + " on " + target);
  return {};
}

/// For kernels older than mount_setattr: one mount, keeping the flags that it is not allowed to lose.
Status remount_read_only(const std::string& target, bool devices) {
  struct statvfs facts {};
  if (::statvfs(target.c_str(), &facts) != 0) return fail_errno("statvfs " + target);
  unsigned long flags = MS_REMOUNT | MS_BIND | MS_RDONLY | MS_NOSUID;
  if (!devices || (facts.f_flag & ST_NODEV) != 0) flags |= MS_NODEV;
  if ((facts.f_flag & ST_NOEXEC) != 0) flags |= MS_NOEXEC;
  if ((facts.f_flag & ST_NOATIME) != 0) flags |= MS_NOATIME;
  if ((facts.f_flag & ST_NODIRATIME) != 0) flags |= MS_NODIRATIME;
  if ((facts.f_flag & ST_RELATIME) != 0) flags |= MS_RELATIME;
  return do_mount("none", target, nullptr, flags, nullptr);
}

}  // namespace

Status enter_mount_namespace() {
  if (::unshare(CLONE_NEWNS) != 0) return fail_errno("unshare(CLONE_NEWNS)");
  return do_mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr);
}

Status make_directories(const std::string& path) {
  for (std::size_t at = path.find('/', 1);; at = path.find('/', at + 1)) {
    const std::string part = path.substr(0, at);
    if (::mkdir(part.c_str(), 0755) != 0 && errno != EEXIST) return fail_errno("mkdir " + part);
    if (at == std::string::npos) return {};
  }
}

Status bind_read_only(const std::string& source, const std::string& target, bool devices) {
  struct stat facts {};
  if (::stat(source.c_str(), &facts) != 0) return fail_errno("stat " + source);
  if (S_ISDIR(facts.st_mode)) {
    if (Status made = make_directories(target); !made) return made;
  } else {
    if (Status made = make_directories(target.substr(0, target.rfind('/'))); !made) return made;
    UniqueFd file(::open(target.c_str(), O_CREAT | O_WRONLY | O_CLOEXEC, 0644));
    if (!file) return fail_errno("create " + target);
  }
  // Recursive, because a namespace that was copied may not uncover what other mounts hide.
  if (Status bound = do_mount(source.c_str(), target, nullptr, MS_BIND | MS_REC, nullptr); !bound) return bound;
  return make_read_only(target, devices);
}

Status make_read_only(const std::string& target, bool devices) {
  MountAttributes attributes;
  attributes.set = kAttrReadOnly | kAttrNoSuid | (devices ? 0 : kAttrNoDev);
  if (::syscall(kMountSetattr, AT_FDCWD, target.c_str(), kAtRecursive, &attributes, sizeof attributes) == 0) return {};
  return remount_read_only(target, devices);
}

Status mount_tmpfs(const std::string& target, std::int64_t bytes, std::int64_t inodes, const std::string& mode) {
  const std::string options = "size=" + std::to_string(bytes) + ",nr_inodes=" + std::to_string(inodes) + ",mode=" + mode;
  return do_mount("tmpfs", target, "tmpfs", MS_NOSUID | MS_NODEV, options.c_str());
}

Status mount_proc(const std::string& target) { return do_mount("proc", target, "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC, nullptr); }

}  // namespace assay::sandbox
