#include "tools/model/target.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "base/escape.h"

namespace assay::tools {
namespace {

/// "cuda:" and two or three digits, or "hip:gfx" and a processor.
bool is_target(const std::string& target) {
  if (target.size() > kMaxTargetBytes) return false;
  const auto all_of = [](std::string_view text, std::string_view valid) {
    return text.find_first_not_of(valid) == std::string_view::npos;
  };
  const std::string_view text = target;
  if (text.starts_with("cuda:"))
    return text.size() >= 7 && text.size() <= 8 && all_of(text.substr(5), "0123456789");
  return text.starts_with("hip:gfx") && text.size() >= 10 &&
         all_of(text.substr(7), "0123456789abcdef");
}

struct Known {
  std::string_view part, target;
};

/// What else is called so: products and architectures, by a part of their names in lower case.
constexpr std::array kKnown = {
    Known{"sm_80", "cuda:80"},     Known{"a100", "cuda:80"},     Known{"sm_90", "cuda:90"},
    Known{"h100", "cuda:90"},      Known{"h200", "cuda:90"},     Known{"hopper", "cuda:90"},
    Known{"sm_100", "cuda:100"},   Known{"b200", "cuda:100"},    Known{"mi300", "hip:gfx942"},
    Known{"gfx942", "hip:gfx942"}, Known{"mi350", "hip:gfx950"}, Known{"gfx950", "hip:gfx950"}};

std::string meant_by(std::string text) {
  for (char& c : text) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  const auto* const found = std::find_if(kKnown.begin(), kKnown.end(), [&](const Known& one) {
    return text.find(one.part) != std::string::npos;
  });
  return found == kKnown.end() ? "" : "; did you mean " + std::string(found->target) + "?";
}

}  // namespace

Status check_target(const std::string& target) {
  if (is_target(target)) return {};
  return fail(ErrorCode::invalid_argument,
              "'" + cut_end(target, kMaxTargetBytes) +
                  "' is no target; valid: cuda:80, cuda:90, cuda:100, hip:gfx942, hip:gfx950" +
                  meant_by(target));
}

}  // namespace assay::tools
