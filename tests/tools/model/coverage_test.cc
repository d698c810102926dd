#include "tools/model/coverage.h"

#include "tests/catch.h"

namespace assay::tools {

TEST_CASE("an entry stands for one case, one of hidden ones for as many as it says") {
  CHECK(cases_not_run({}) == 0);
  CHECK(cases_not_run({"large: too large for the interpreter", "awkward: bfloat16"}) == 2);
  CHECK(cases_not_run({"large: too large", "3 hidden: too large"}) == 4);
  CHECK(cases_not_run({"7_rows: too large", "4: too large"}) == 2);
}

TEST_CASE("a pass says how much it is about, where that is not all") {
  sandbox::Verdict verdict;
  verdict.tier = sandbox::Tier::interpreter;
  verdict.cases.resize(3);
  CHECK(pass_text(verdict) == "pass");
  verdict.skipped_cases = {"large: too large", "3 hidden: too large"};
  CHECK(pass_text(verdict) == "pass on 3 of 7 cases (interpreter)");
}

}  // namespace assay::tools
