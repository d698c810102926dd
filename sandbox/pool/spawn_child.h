// The child's code between fork and exec. The parent has threads, so it makes async-signal-safe
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
  pid_t parent = -1;  // the child exits if this process has ended already
};

inline constexpr int kExecFailed = 127;

/// Sets up the child and executes the program.
[[noreturn]] void become(const ChildPlan& plan);

}  // namespace assay::sandbox
