// Tells whether the copies of a launch plan, and not the submission's kernels, determined the order
// of an output's elements.
//
//   Result<Plan> plan = decode_plan(bytes);
//   if (plan && reorders(*plan)) return;  // the work of family `layout` was left to copies
//
// An operator of the family `layout` only changes the order of elements. The recorder performs
// torch's copies with kernels of its own or with the driver's copies. So a submission could leave
// the operator's work to such copies, for example by `y = t.T.contiguous()`. Copies that keep the
// order are allowed. For example, they pad, cut off, convert, or move a block.
// harness/interpreting/layout_log.py applies the same rules without a GPU. The rules: - Each copy
// keeps the order of its elements in memory. - The copies into a buffer come from one other buffer
// and together keep the order. - The copies out of a buffer read parts that do not overlap. - An
// output has its elements in memory in the order of its indices. Only copies on the way from an
// input to an output count. If an output depends on one buffer of a kernel, the kernel may have
// filled this buffer from all its other buffers. So copies into the kernel's other buffers count
// too. Copies of constants do not count, because constants contain no data of an input. All
// functions are pure and thread-safe.
#pragma once

#include <string_view>

#include "sandbox/launcher/plan/plan.h"

namespace assay::sandbox {

/// Returns true for the recorder's own kernels, which copy and convert in place of torch's kernels.
/// A submission gains nothing if it gives its own kernel such a name, because then the kernel does
/// not count as the submission's work.
inline bool is_recorder_kernel(std::string_view kernel) { return kernel.starts_with("assay_"); }

/// The name of the recorder's kernel for copies that keep the order of the elements. Its first two
/// pointer parameters are the target and the source.
inline constexpr std::string_view kInOrderCopy = "assay_copy_in_order";

/// Returns true if the plan's copies, or the strides of an output, change the order of elements on
/// the way to an output. The plan must have passed check_plan().
bool reorders(const Plan& plan);

}  // namespace assay::sandbox
