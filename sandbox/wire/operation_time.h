// OperationTime: the time of one operation of a launch plan. The launcher measures it, a `launched`
// message carries it, and a verdict shows it, so all three share this definition.
//
//   const OperationTime copy{.name = "copy", .submitted = false, .ns = 1'200};
//
// A value, thread-safe.
#pragma once

#include <string>

namespace assay::sandbox {

/// The operation runs after the operations before it, with cold caches.
struct OperationTime {
  std::string name;        // name of the kernel, "copy" or "fill"
  bool submitted = false;  // a kernel of the submission; false for data movement of torch
  double ns = 0;
};

}  // namespace assay::sandbox
