#include "tools/model/coverage.h"

namespace assay::tools {

std::int64_t cases_not_run(const std::vector<sandbox::SkippedCases>& skipped_cases) {
  std::int64_t count = 0;
  for (const sandbox::SkippedCases& skip : skipped_cases)
    count += static_cast<std::int64_t>(skip.ids.size()) + skip.hidden;
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
