// Aligns two lists by their longest common subsequence. An item of both lists is a pair; every
// other item is alone.
//
//   align({"a", "b"}, {"b", "c"})  ->  {0, none}, {1, 0}, {none, 1}
//
// Pure function.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace assay::server {

/// Positions in the two lists; at least one is set.
struct Aligned {
  std::optional<std::size_t> left, right;
  bool operator==(const Aligned&) const = default;
};

std::vector<Aligned> align(const std::vector<std::string>& left,
                           const std::vector<std::string>& right);

}  // namespace assay::server
