#include "tools/model/coverage.h"

#include "tests/catch.h"

namespace assay::tools {

TEST_CASE("cases that were not run are counted by name, and hidden ones by their number") {
  using sandbox::SkipReason;
  CHECK(cases_not_run({}) == 0);
  CHECK(cases_not_run({{{"large", "wide"}, 0, SkipReason::too_large, "too large"},
                       {{"awkward"}, 0, SkipReason::dtype, "bfloat16"}}) == 3);
  CHECK(cases_not_run({{{"large"}, 3, SkipReason::too_large, "too large"}}) == 4);
  CHECK(cases_not_run({{{"3 hidden"}, 0, SkipReason::other, "no text is read: 4 hidden"}}) == 1);
}

TEST_CASE("a pass says how much it is about, where that is not all") {
  sandbox::Verdict verdict;
  verdict.tier = sandbox::Tier::interpreter;
  verdict.cases.resize(3);
  CHECK(pass_text(verdict) == "pass");
  verdict.skipped_cases = {{{"large"}, 0, sandbox::SkipReason::too_large, "too large"},
                           {{}, 3, sandbox::SkipReason::hidden, "too large"}};
  CHECK(pass_text(verdict) == "pass on 3 of 7 cases (interpreter)");
}

}  // namespace assay::tools
