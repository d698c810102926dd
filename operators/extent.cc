// evaluate_extent() computes an extent such as "rows", "128" or "2*rows*cols" for given axes.
#include <algorithm>
#include <charconv>
#include <cstdint>
#include <limits>
#include <map>
#include <string>
#include <string_view>

#include "base/try.h"
#include "operators/catalog.h"

namespace assay::operators {
namespace {

std::string axis_names(const std::map<std::string, std::int64_t>& axes) {
  std::string names;
  for (const auto& [name, value] : axes) names += (names.empty() ? "" : ", ") + name;
  return names.empty() ? "none" : names;
}

Result<std::int64_t> evaluate_factor(std::string_view factor, std::string_view expression,
                                     const std::map<std::string, std::int64_t>& axes) {
  const auto found = axes.find(std::string(factor));
  if (found != axes.end()) return found->second;
  const bool digits = !factor.empty() && std::all_of(factor.begin(), factor.end(),
                                                     [](char c) { return c >= '0' && c <= '9'; });
  std::int64_t value = 0;
  if (digits &&
      std::from_chars(factor.data(), factor.data() + factor.size(), value).ec == std::errc())
    return value;
  return fail(ErrorCode::invalid_argument,
              "extent '" + std::string(expression) + "': '" + std::string(factor) +
                  "' is neither an integer nor an axis; axes: " + axis_names(axes));
}

}  // namespace

Result<std::int64_t> evaluate_extent(std::string_view expression,
                                     const std::map<std::string, std::int64_t>& axes) {
  std::int64_t product = 1;
  for (std::string_view rest = expression;;) {
    const std::size_t star = rest.find('*');
    ASSAY_TRY(factor, evaluate_factor(rest.substr(0, star), expression, axes));
    if (__builtin_mul_overflow(product, factor, &product)) {
      return fail(ErrorCode::invalid_argument,
                  "extent '" + std::string(expression) + "' is larger than 64 bits for these axes");
    }
    if (star == std::string_view::npos) return product;
    rest.remove_prefix(star + 1);
  }
}

}  // namespace assay::operators
