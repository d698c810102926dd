#include "tools/model/coverage.h"

#include <charconv>
#include <string_view>

namespace assay::tools {

std::int64_t cases_not_run(const std::vector<std::string>& skipped_cases) {
  std::int64_t count = 0;
  for (const std::string& skip : skipped_cases) {
    std::int64_t several = 0;
    const auto [end, error] = std::from_chars(skip.data(), skip.data() + skip.size(), several);
    const std::string_view rest(end, static_cast<std::size_t>(skip.data() + skip.size() - end));
    count += error == std::errc{} && rest.starts_with(" hidden") ? several : 1;
  }
  return count;
}

std::string pass_text(const sandbox::Verdict& verdict) {
  const std::int64_t left_out = cases_not_run(verdict.skipped_cases);
  if (left_out == 0) return "pass";
  const auto ran = static_cast<std::int64_t>(verdict.cases.size());
  return "pass on " + std::to_string(ran) + " of " + std::to_string(ran + left_out) + " cases (" +
         std::string(to_string(verdict.tier)) + ")";
}

}  // namespace assay::tools
