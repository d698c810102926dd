// Shows the differences between two launch plans. The lists of buffers, binaries, operations and
// outputs are compared separately: each list of one plan is first aligned with the same list of the
// other plan. Pure functions.
//
//   const PlanDiff diff = diff_plans(before, after);
//   if (!diff.same) std::cout << diff.text;
//
// Two operations are aligned if they have the same identity: the kernel's name, or the buffers of a
// copy. Then the facts of aligned operations are compared. Scratch buffers and constants have no
// names, so they are aligned by their order. If the plans have different numbers of such buffers,
// only buffers of the same size are aligned. In the text, a buffer of the second plan has the name
// of the buffer of the first plan with which it is aligned.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "sandbox/launcher/plan/plan.h"

namespace assay::server {

struct PlanDiff {
  bool same = true;
  /// One line for each entry that differs, below the section's name. Empty if the plans are equal.
  std::string text;
};

PlanDiff diff_plans(const sandbox::Plan& before, const sandbox::Plan& after);

/// An item of two aligned lists: its position in each list. An item that is in only one list has
/// only one position.
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
