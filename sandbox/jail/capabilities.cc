#include "sandbox/jail/capabilities.h"

#include <linux/capability.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace assay::sandbox {
namespace {

constexpr int kHighestCapability = 63;

}  // namespace

Status drop_capability_bounds() {
  // Kernels without ambient capabilities have nothing to clear.
  if (::prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0) != 0 && errno != EINVAL)
    return fail_errno("prctl(PR_CAP_AMBIENT_CLEAR_ALL)");
  for (int capability = 0; capability <= kHighestCapability; ++capability) {
    const int held = ::prctl(PR_CAPBSET_READ, capability, 0, 0, 0);
    if (held < 0 && errno == EINVAL) return {};  // past the last one that this kernel knows
    if (held > 0 && ::prctl(PR_CAPBSET_DROP, capability, 0, 0, 0) != 0)
      return fail_errno("prctl(PR_CAPBSET_DROP)");
  }
  return {};
}

Status drop_capabilities() {
  __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
  __user_cap_data_struct none[2] = {};
  if (::syscall(SYS_capset, &header, none) != 0) return fail_errno("capset");
  return {};
}

}  // namespace assay::sandbox
