#include "operators/names.h"

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <vector>

namespace assay::operators {
namespace {

constexpr std::size_t kIdentifierBytes = 64;

std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t substituted = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({substituted, row[j] + 1, row[j - 1] + 1});
    }
  }
  return row.back();
}

}  // namespace

bool is_identifier(std::string_view text) {
  const auto lower = [](char c) { return c >= 'a' && c <= 'z'; };
  return !text.empty() && text.size() <= kIdentifierBytes && lower(text[0]) &&
         std::all_of(text.begin(), text.end(),
                     [&](char c) { return lower(c) || (c >= '0' && c <= '9') || c == '_'; });
}

std::string_view nearest(std::string_view text, std::span<const std::string_view> names) {
  if (text.size() > 2 * kIdentifierBytes)
    return {};  // No name is that long. The limit also bounds the time of the search.
  std::string_view best;
  std::size_t best_distance = 0;
  for (const std::string_view name : names) {
    const std::size_t distance = edit_distance(text, name);
    if (distance * 3 > std::max(text.size(), name.size())) continue;
    if (best.empty() || distance < best_distance) {
      best = name;
      best_distance = distance;
    }
  }
  return best;
}

}  // namespace assay::operators
