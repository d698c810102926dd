#include "sandbox/jail/landlock.h"

#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>

#include "base/unique_fd.h"

namespace assay::sandbox {
namespace {

// Constants of Landlock. They are defined here because linux/landlock.h is missing on some systems
// on which Assay is built. The numbers of the system calls are the same on every architecture.
constexpr long kCreateRuleset = 444, kAddRule = 445, kRestrictSelf = 446;
constexpr unsigned kVersionFlag = 1;
constexpr int kPathBeneath = 1;

struct RulesetAttributes {
  std::uint64_t files, network, scopes;
};
struct __attribute__((packed)) PathBeneath {
  std::uint64_t allowed;
  std::int32_t folder;
};

constexpr std::uint64_t bit(int number) { return 1ULL << number; }
constexpr std::uint64_t kExecute = bit(0), kWriteFile = bit(1), kReadFile = bit(2),
                        kReadFolder = bit(3), kMakeCharacterDevice = bit(6),
                        kMakeBlockDevice = bit(11);
// The bit for the right to truncate. fopen("w") truncates even a device or a file of /proc.
constexpr std::uint64_t kTruncate = bit(14);
constexpr std::uint64_t kIoctlOnDevice = bit(15);
constexpr std::uint64_t kNetwork = bit(0) | bit(1);  // binding and connecting TCP sockets
// The bits for connecting to abstract sockets and for sending signals.
constexpr std::uint64_t kScopes = bit(0) | bit(1);

/// Returns the bits of all file rights that this version of the Landlock interface knows.
std::uint64_t files_of(int version) {
  if (version >= 5) return bit(16) - 1;  // ioctl on devices
  if (version >= 3) return bit(15) - 1;  // truncate
  if (version >= 2) return bit(14) - 1;  // refer
  return bit(13) - 1;
}

Status allow(int ruleset, const std::string& path, std::uint64_t rights) {
  const UniqueFd at(::open(path.c_str(), O_PATH | O_CLOEXEC));
  if (!at) return fail_errno("open " + path + " for Landlock");
  const PathBeneath rule{rights, at.get()};
  if (::syscall(kAddRule, ruleset, kPathBeneath, &rule, 0) != 0)
    return fail_errno("landlock_add_rule " + path);
  return {};
}

}  // namespace

int landlock_version() {
  const long version = ::syscall(kCreateRuleset, nullptr, 0, kVersionFlag);
  return version < 0 ? 0 : static_cast<int>(version);
}

Status restrict_with_landlock(const std::vector<std::string>& writable,
                              const std::vector<std::string>& devices, bool loopback) {
  const int version = landlock_version();
  if (version == 0)
    return fail(ErrorCode::unavailable,
                "this kernel has no Landlock (needs Linux 5.13 and `landlock` among its LSMs)");
  const std::uint64_t files = files_of(version);
  const RulesetAttributes attributes{files, version >= 4 && !loopback ? kNetwork : 0,
                                     version >= 6 ? kScopes : 0};
  // Older kernels accept only the shorter forms of the struct.
  const std::size_t size = version >= 6   ? sizeof attributes
                           : version >= 4 ? 2 * sizeof(std::uint64_t)
                                          : sizeof(std::uint64_t);
  const UniqueFd ruleset(static_cast<int>(::syscall(kCreateRuleset, &attributes, size, 0)));
  if (!ruleset) return fail_errno("landlock_create_ruleset");
  if (Status read = allow(ruleset.get(), "/", kExecute | kReadFile | kReadFolder); !read)
    return read;
  std::vector<std::string> usable = {"/dev/null", "/dev/zero"};
  usable.insert(usable.end(), devices.begin(), devices.end());
  for (const std::string& device : usable) {
    if (Status written = allow(ruleset.get(), device,
                               kReadFile | kWriteFile | (files & (kTruncate | kIoctlOnDevice)));
        !written)
      return written;
  }
  for (const std::string& folder : writable) {
    if (Status made = allow(ruleset.get(), folder,
                            files & ~(kMakeCharacterDevice | kMakeBlockDevice | kIoctlOnDevice));
        !made)
      return made;
  }
  if (::syscall(kRestrictSelf, ruleset.get(), 0) != 0) return fail_errno("landlock_restrict_self");
  return {};
}

}  // namespace assay::sandbox
