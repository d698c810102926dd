// Shows the differences between two launch plans: buffers, binaries, operations and outputs,
// aligned within each kind.
//
//   PlanDiff diff = diff_plans(before, after);
//   if (!diff.same) std::cout << diff.text;
//
// Operations are aligned by identity (the kernel's name, the buffers of a copy), then their facts
// are compared. Scratch buffers have no names, so they are aligned by order and size, and the
// second plan's buffers get the first plan's names. A pure function.
#pragma once

#include <string>

#include "sandbox/launcher/plan/plan.h"

namespace assay::server {

struct PlanDiff {
  bool same = true;
  std::string
      text;  // one line for each difference, under the section's name; empty if the plans are equal
};

PlanDiff diff_plans(const sandbox::Plan& before, const sandbox::Plan& after);

}  // namespace assay::server
