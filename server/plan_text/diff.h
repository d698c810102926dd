// What changed from one launch plan to another: buffers, binaries, operations and outputs, each
// aligned with its like.
//
//   PlanDiff diff = diff_plans(before, after);
//   if (!diff.same) std::cout << diff.text;
//
// Operations are aligned by what they are (the kernel's name, the buffers of a copy) and then
// compared by what they say. Scratch buffers have no names: they are aligned by order and size, and
// the second plan's go by the first plan's names. Pure function.
#pragma once

#include <string>

#include "sandbox/launcher/plan/plan.h"

namespace assay::server {

struct PlanDiff {
  bool same = true;
  std::string
      text;  // one line for each difference, under the section's name; empty when there is none
};

PlanDiff diff_plans(const sandbox::Plan& before, const sandbox::Plan& after);

}  // namespace assay::server
