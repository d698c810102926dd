// The system call filter, a denylist: Python, LLVM and CUDA use too much of the kernel for a list
// of what is allowed. What is denied is what opens kernel surface that no submission needs, or
// undoes another layer. See seccomp_rules.cc for the list.
//
//   static const Result<SeccompFilter> filter = SeccompFilter::build(SeccompProfile::candidate); //
//   once, before the fork: 1 ms Status loaded = filter->load(); // in the child, last
//
// Immutable after build.
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

class SeccompFilter {
 public:
  static Result<SeccompFilter> build(SeccompProfile profile);

  /// Filters every thread of the calling process from now on, and all it will start. Needs
  /// no_new_privs.
  Status load() const;

 private:
  std::vector<sock_filter> program_;
};

}  // namespace assay::sandbox
