#include "tools/target.h"

#include <string_view>

#include "tools/escape.h"

namespace assay::tools {
namespace {

/// "cuda:" and two or three digits, or "hip:gfx" and a processor.
bool is_target(const std::string& target) {
  if (target.size() > kMaxTargetBytes) return false;
  const auto all_of = [](std::string_view text, std::string_view valid) { return text.find_first_not_of(valid) == std::string_view::npos; };
  const std::string_view text = target;
  if (text.starts_with("cuda:")) return text.size() >= 7 && text.size() <= 8 && all_of(text.substr(5), "0123456789");
  return text.starts_with("hip:gfx") && text.size() >= 10 && all_of(text.substr(7), "0123456789abcdef");
}

}  // namespace

Status check_target(const std::string& target) {
  if (is_target(target)) return {};
  return fail(ErrorCode::invalid_argument, "'" + cut_end(target, kMaxTargetBytes) + "' is no target; valid: cuda:80, cuda:90, cuda:100, hip:gfx942, hip:gfx950");
}

}  // namespace assay::tools
