// OperationTime is the time of one operation of a launch plan. The launcher measures this time, a
// `launched` message contains it, and a verdict shows it. The launcher, the message and the verdict
// share this definition.
//
//   const OperationTime copy{.name = "copy", .submitted = false, .ns = 1'200};
//
// A plain struct. Thread-safe.
#pragma once

#include <string>

namespace assay::sandbox {

/// The time of one operation of a launch plan. Before the operation was timed, the caches were
/// flushed, and then the operations that precede it in the plan ran.
struct OperationTime {
  std::string name;  // name of the kernel, "copy" or "fill"
  // True for a kernel of the submission. False for a copy, a fill, or a kernel of the recorder.
  bool submitted = false;
  double ns = 0;
};

}  // namespace assay::sandbox
