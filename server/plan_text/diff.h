// Shows the differences between two launch plans in their buffers, binaries, operations and
// outputs. Each of these lists is aligned separately. Pure functions.
//
//   const PlanDiff diff = diff_plans(before, after);
//   if (!diff.same) std::cout << diff.text;
//
// Operations are aligned by their identity (the kernel's name, or the buffers of a copy). Then the
// facts of aligned operations are compared. Scratch buffers have no names, so they are aligned by
// order and size. A buffer of the second plan gets the name of its aligned buffer in the first
// plan.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "sandbox/launcher/plan/plan.h"

namespace assay::server {

struct PlanDiff {
  bool same = true;
  /// One line for each difference, below the section's name. Empty if the plans are equal.
  std::string text;
};

PlanDiff diff_plans(const sandbox::Plan& before, const sandbox::Plan& after);

/// The positions of an item in the two lists. At least one position is set.
struct Aligned {
  std::optional<std::size_t> left, right;
  bool operator==(const Aligned&) const = default;
};

/// Aligns two lists by their longest common subsequence. An item that is in both lists has both
/// positions. Every other item has only one position.
///
///   align({"a", "b"}, {"b", "c"})  // {0, none}, {1, 0}, {none, 1}
std::vector<Aligned> align(const std::vector<std::string>& left,
                           const std::vector<std::string>& right);

}  // namespace assay::server
