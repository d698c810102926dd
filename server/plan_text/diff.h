// Shows the differences between two launch plans: buffers, binaries, operations and outputs,
// aligned within each kind. Pure functions.
//
//   const PlanDiff diff = diff_plans(before, after);
//   if (!diff.same) std::cout << diff.text;
//
// Operations are aligned by identity (the kernel's name, the buffers of a copy), then their facts
// are compared. Scratch buffers have no names, so they are aligned by order and size, and the
// second plan's buffers get the first plan's names.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "sandbox/launcher/plan/plan.h"

namespace assay::server {

struct PlanDiff {
  bool same = true;
  /// One line for each difference, under the section's name; empty if the plans are equal.
  std::string text;
};

PlanDiff diff_plans(const sandbox::Plan& before, const sandbox::Plan& after);

/// Positions in the two lists; at least one is set.
struct Aligned {
  std::optional<std::size_t> left, right;
  bool operator==(const Aligned&) const = default;
};

/// Aligns two lists by their longest common subsequence. An item of both lists is a pair; every
/// other item is alone.
///
///   align({"a", "b"}, {"b", "c"})  // {0, none}, {1, 0}, {none, 1}
std::vector<Aligned> align(const std::vector<std::string>& left,
                           const std::vector<std::string>& right);

}  // namespace assay::server
