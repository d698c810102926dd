// Builds and loads the system call filter. The filter is a denylist, because Python, LLVM and CUDA
// use too many system calls for an allowlist. It denies calls that no submission needs, and calls
// that would undo another isolation layer of the jail. The list is in seccomp_rules.cc. seccomp.cc
// builds and loads the filter.
//
//   const Result<SeccompFilter> filter = SeccompFilter::build(SeccompProfile::candidate);
//   Status loaded = filter->load();
//
// Build the filter once before the fork (it takes 1 ms), and load it in the child as the last
// layer. The filter does not change after build().
#pragma once

#include <linux/filter.h>

#include <string>
#include <vector>

#include "base/result.h"

namespace assay::sandbox {

enum class SeccompProfile {
  candidate,  // for untrusted code without a GPU
  launcher,   // for a GPU's driver, which parses untrusted binaries
  profiler,   // like launcher, but inside Nsight Compute, which creates named pipes
};

/// Adds every rule to a libseccomp filter (scmp_filter_ctx) that allows calls by default.
Status add_seccomp_rules(void* filter, SeccompProfile profile);

class SeccompFilter {
 public:
  static Result<SeccompFilter> build(SeccompProfile profile);

  /// Loads the filter for every thread of the calling process and for all processes that it starts
  /// later. Needs no_new_privs.
  Status load() const;

 private:
  std::vector<sock_filter> program_;
};

}  // namespace assay::sandbox
