// What happens between fork and exec, in the child of a process with threads: async-signal-safe
// calls only.
#pragma once

#include <sys/types.h>

#include <cstddef>

namespace assay::sandbox {

struct ChildPlan {
  char* const* argv = nullptr;
  char* const* environment = nullptr;
  const int* inherit = nullptr;
  std::size_t inherit_count = 0;
  int log_fd = -1;    // becomes stdout and stderr
  int null_fd = -1;   // becomes stdin
  pid_t parent = -1;  // of the fork; when it is gone already, so is the child
};

inline constexpr int kExecFailed = 127;

[[noreturn]] void become(const ChildPlan& plan);

}  // namespace assay::sandbox
