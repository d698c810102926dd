// The system call filter. It is a denylist, because Python, LLVM and CUDA use too many system calls
// for an allowlist. It denies calls that no submission needs and calls that undo another layer.
// seccomp_rules.cc has the list, and seccomp.cc builds and loads the filter.
//
//   const Result<SeccompFilter> filter = SeccompFilter::build(SeccompProfile::candidate);
//   Status loaded = filter->load();
//
// Build it once before the fork (it takes 1 ms), and load it in the child as the last layer. It
// does not change after build().
#pragma once

#include <linux/filter.h>

#include <string>
#include <vector>

#include "base/result.h"

namespace assay::sandbox {

enum class SeccompProfile {
  candidate,  // untrusted code without a GPU
  launcher,   // a GPU's driver, which parses untrusted binaries
  profiler,   // the same inside Nsight Compute, which makes named pipes
};

/// Adds every rule to a libseccomp filter (scmp_filter_ctx) that allows by default.
Status add_seccomp_rules(void* filter, SeccompProfile profile);

class SeccompFilter {
 public:
  static Result<SeccompFilter> build(SeccompProfile profile);

  /// Filters every thread of the calling process and all processes that it starts. Needs
  /// no_new_privs.
  Status load() const;

 private:
  std::vector<sock_filter> program_;
};

}  // namespace assay::sandbox
