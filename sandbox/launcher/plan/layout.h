// Tells if the copies of a launch plan, and not the submission's kernels, put the elements of an
// output in their order.
//
//   Result<Plan> plan = decode_plan(bytes);
//   if (plan && reorders(*plan)) return;  // for family `layout`: not the submission's work
//
// For an operator of family `layout`, the order of the elements is the whole work. The recorder
// performs torch's copies with kernels of its own or with the driver's copies, so a submission can
// leave this work to them: `y = t.T.contiguous()`. A copy that keeps the order is no such work: it
// pads, cuts off, converts, or moves a block. harness/interpreting/layout_log.py applies the same
// rules without a GPU:
//  - Each copy keeps the order of its elements in memory.
//  - The copies into a buffer come from one other buffer and together keep the order.
//  - The copies out of a buffer read parts that do not overlap.
//  - An output has its elements in memory in the order of its indices.
// Only copies on the way to an output count. A kernel that has one buffer of that way may have read
// all buffers of its parameters. Constants hold no data of an input, so copies of them do not
// count. All functions are pure and thread-safe.
#pragma once

#include <string_view>

#include "sandbox/launcher/plan/plan.h"

namespace assay::sandbox {

/// Returns true for a kernel of the recorder, which copies and casts in place of torch's kernels. A
/// submission gains nothing by giving its own kernel such a name: the kernel then does not count as
/// its work.
inline bool is_recorder_kernel(std::string_view kernel) { return kernel.starts_with("assay_"); }

/// The recorder's kernel for copies that keep the order of the elements. Its first pointers are the
/// target and the source.
inline constexpr std::string_view kInOrderCopy = "assay_copy_in_order";

/// Returns true if the plan's copies, or the strides of an output, change the order of elements on
/// the way to an output. The plan must have passed check_plan().
bool reorders(const Plan& plan);

}  // namespace assay::sandbox
