#include "sandbox/jail/seccomp.h"

#include <linux/seccomp.h>
#include <seccomp.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <memory>

#include "base/unique_fd.h"

namespace assay::sandbox {
namespace {

struct ReleaseContext {
  void operator()(void* context) const { seccomp_release(context); }
};

/// Returns the filter in the form that the kernel uses. libseccomp can write this form only to a
/// file.
Result<std::vector<sock_filter>> program_of(scmp_filter_ctx filter) {
  UniqueFd file(::memfd_create("seccomp", MFD_CLOEXEC));
  if (!file) return fail_errno("memfd_create for the seccomp filter");
  if (const int result = seccomp_export_bpf(filter, file.get()); result < 0)
    return fail_errno("seccomp_export_bpf", -result);
  struct stat facts {};
  if (::fstat(file.get(), &facts) != 0) return fail_errno("fstat of the seccomp filter");
  std::vector<sock_filter> program(static_cast<std::size_t>(facts.st_size) / sizeof(sock_filter));
  const std::size_t bytes = program.size() * sizeof(sock_filter);
  if (::pread(file.get(), program.data(), bytes, 0) != static_cast<ssize_t>(bytes))
    return fail_errno("read the seccomp filter");
  return program;
}

}  // namespace

Result<SeccompFilter> SeccompFilter::build(SeccompProfile profile) {
  const std::unique_ptr<void, ReleaseContext> context(seccomp_init(SCMP_ACT_ALLOW));
  if (context == nullptr) return fail(ErrorCode::internal, "seccomp_init failed");
  // System calls of other architectures (32-bit, x32) have other numbers, so the rules would not
  // match them. A process that makes such a call is killed.
  if (const int result =
          seccomp_attr_set(context.get(), SCMP_FLTATR_ACT_BADARCH, SCMP_ACT_KILL_PROCESS);
      result < 0) {
    return fail_errno("seccomp_attr_set(ACT_BADARCH)", -result);
  }
  // The filter has rules for a hundred rare calls. The rules are ordered as a binary tree, so that
  // common calls pass the filter fast. Older versions of libseccomp cannot build a tree, so a
  // failure is ignored.
  seccomp_attr_set(context.get(), SCMP_FLTATR_CTL_OPTIMIZE, 2);
  if (Status added = add_seccomp_rules(context.get(), profile); !added) return fail(added.error());
  Result<std::vector<sock_filter>> program = program_of(context.get());
  if (!program) return fail(program.error());
  SeccompFilter filter;
  filter.program_ = std::move(*program);
  return filter;
}

Status SeccompFilter::load() const {
  sock_fprog program{static_cast<unsigned short>(program_.size()),
                     const_cast<sock_filter*>(program_.data())};
  if (::syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &program) != 0)
    return fail_errno("seccomp(SECCOMP_SET_MODE_FILTER)");
  return {};
}

}  // namespace assay::sandbox
