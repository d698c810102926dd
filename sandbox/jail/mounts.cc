#include "sandbox/jail/mounts.h"

#include <fcntl.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "base/files.h"
#include "base/unique_fd.h"
#include "sandbox/jail/mount_table.h"

namespace assay::sandbox {
namespace {

constexpr const char* kDeviceFolders[] = {"driver", "acpi", "scsi", "asound"};  // folders of /proc
// Files in /proc that describe the whole machine, its load or its disks. torch, Triton and the C
// library do not need these files. The files cpuinfo, meminfo and stat stay visible, because torch,
// Triton or the C library reads them.
constexpr const char* kMachineFiles[] = {
    "cmdline",    "diskstats", "interrupts", "loadavg",
    "partitions", "softirqs",  "uptime",     "sys/kernel/random/boot_id"};
// The number of the system call mount_setattr, and constants for its arguments. They are defined
// here because some C libraries lack them. The number is the same on every architecture.
constexpr long kMountSetattr = 442;
constexpr unsigned kAtRecursive = 0x8000;
constexpr std::uint64_t kAttrReadOnly = 1, kAttrNoSuid = 2, kAttrNoDev = 4;
struct MountAttributes {
  std::uint64_t set = 0, clear = 0, propagation = 0, user_namespace = 0;
};

Status do_mount(const char* source, const std::string& target, const char* type,
                unsigned long flags, const char* options) {
  if (::mount(source, target.c_str(), type, flags, options) != 0)
    return fail_errno("mount " + std::string(type != nullptr ? type : source) + " on " + target);
  return {};
}

/// Makes one mount read-only, but not the mounts below it. Keeps the mount's other flags, because
/// the kernel does not allow some of them to be removed.
Status remount_one_read_only(const std::string& target, bool devices) {
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

/// Makes a mount and all mounts below it read-only on a kernel without mount_setattr.
Status remount_read_only(const std::string& target, bool devices) {
  ASSAY_RETURN_IF_ERROR(remount_one_read_only(target, devices));
  for (const Mount& mount : parse_mounts(read_small_file("/proc/self/mounts"))) {
    if (!mount.target.starts_with(target + "/")) continue;
    ASSAY_RETURN_IF_ERROR(remount_one_read_only(mount.target, devices));
  }
  return {};
}

/// Returns the mount points below a folder. Leaves out a mount point that is below another returned
/// mount point.
std::vector<std::string> mounts_below(const std::string& folder) {
  std::vector<std::string> found;
  for (Mount& mount : parse_mounts(read_small_file("/proc/self/mounts"))) {
    if (mount.target.starts_with(folder + "/")) found.push_back(std::move(mount.target));
  }
  std::sort(found.begin(), found.end());
  std::vector<std::string> outermost;
  for (const std::string& path : found) {
    if (std::none_of(outermost.begin(), outermost.end(), [&](const std::string& other) {
          return path == other || path.starts_with(other + "/");
        }))
      outermost.push_back(path);
  }
  return outermost;
}

Status make_mount_point(const std::string& path, bool directory) {
  if (directory) return make_directories(path);
  if (Status made = make_directories(path.substr(0, path.rfind('/'))); !made) return made;
  UniqueFd file(::open(path.c_str(), O_CREAT | O_WRONLY | O_CLOEXEC, 0644));
  if (!file) return fail_errno("create " + path);
  return {};
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
  if (Status point = make_mount_point(target, S_ISDIR(facts.st_mode)); !point) return point;
  // The bind mount includes the mounts below `source`. The reason is that in a copied namespace the
  // kernel refuses a bind mount that would reveal files under such mounts.
  if (Status bound = do_mount(source.c_str(), target, nullptr, MS_BIND | MS_REC, nullptr); !bound)
    return bound;
  return make_read_only(target, devices);
}

Status make_read_only(const std::string& target, bool devices) {
  MountAttributes attributes;
  attributes.set = kAttrReadOnly | kAttrNoSuid | (devices ? 0 : kAttrNoDev);
  if (::syscall(kMountSetattr, AT_FDCWD, target.c_str(), kAtRecursive, &attributes,
                sizeof attributes) == 0)
    return {};
  return remount_read_only(target, devices);
}

Status mount_tmpfs(const std::string& target, std::int64_t bytes, std::int64_t inodes,
                   const std::string& mode) {
  const std::string options =
      "size=" + std::to_string(bytes) + ",nr_inodes=" + std::to_string(inodes) + ",mode=" + mode;
  return do_mount("tmpfs", target, "tmpfs", MS_NOSUID | MS_NODEV, options.c_str());
}

Status mount_tmpfs_keeping_mounts(const std::string& target, std::int64_t bytes,
                                  std::int64_t inodes, const std::string& mode) {
  std::vector<std::pair<std::string, UniqueFd>> kept;
  for (const std::string& path : mounts_below(target)) {
    UniqueFd fd(::open(path.c_str(), O_PATH | O_CLOEXEC));
    if (!fd) return fail_errno("open " + path);
    kept.emplace_back(path, std::move(fd));
  }
  if (Status mounted = mount_tmpfs(target, bytes, inodes, mode); !mounted) return mounted;
  for (const auto& [path, fd] : kept) {
    struct stat facts {};
    if (::fstat(fd.get(), &facts) != 0) return fail_errno("fstat " + path);
    if (Status point = make_mount_point(path, S_ISDIR(facts.st_mode)); !point) return point;
    // A copy of a mount keeps the restrictions of the original mount.
    const std::string source = "/proc/self/fd/" + std::to_string(fd.get());
    if (Status bound = do_mount(source.c_str(), path, nullptr, MS_BIND | MS_REC, nullptr); !bound)
      return bound;
  }
  return {};
}

Status mount_proc(const std::string& target) {
  if (Status mounted = do_mount("proc", target, "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC, nullptr);
      !mounted)
    return mounted;
  for (const char* folder : kDeviceFolders) {
    const std::string path = target + "/" + folder;
    struct stat facts {};
    if (::stat(path.c_str(), &facts) != 0) continue;  // the folder does not exist on this machine
    if (Status hidden =
            do_mount("tmpfs", path, "tmpfs", MS_RDONLY | MS_NOSUID | MS_NODEV | MS_NOEXEC,
                     "size=4096,mode=555");
        !hidden)
      return hidden;
  }
  return {};
}

Status empty_machine_files(const std::string& target) {
  const std::string null = target.substr(0, target.rfind('/')) + "/dev/null";
  for (const char* file : kMachineFiles) {
    const std::string path = target + "/" + file;
    struct stat facts {};
    if (::stat(path.c_str(), &facts) != 0) continue;  // the file does not exist on this kernel
    if (Status hidden = do_mount(null.c_str(), path, nullptr, MS_BIND, nullptr); !hidden)
      return hidden;
  }
  return {};
}

}  // namespace assay::sandbox
