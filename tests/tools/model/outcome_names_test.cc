#include "tools/model/outcome_names.h"

#include <map>
#include <set>
#include <string>

#include "tests/catch.h"

namespace assay::tools {

TEST_CASE("cases that were not run are the named ones and the number of hidden ones") {
  using sandbox::SkipReason;
  CHECK(cases_not_run({}) == 0);
  CHECK(cases_not_run({{{"large", "wide"}, 0, SkipReason::too_large, "too large"},
                       {{"awkward"}, 0, SkipReason::dtype, "bfloat16"}}) == 3);
  CHECK(cases_not_run({{{"large"}, 3, SkipReason::too_large, "too large"}}) == 4);
  CHECK(cases_not_run({{{"3 hidden"}, 0, SkipReason::other, "no text is read: 4 hidden"}}) == 1);
}

TEST_CASE("a pass that does not cover all cases says how many it covers") {
  sandbox::Verdict verdict;
  verdict.tier = sandbox::Tier::interpreter;
  verdict.cases.resize(3);
  CHECK(pass_text(verdict) == "pass");
  verdict.skipped_cases = {{{"large"}, 0, sandbox::SkipReason::too_large, "too large"},
                           {{}, 3, sandbox::SkipReason::hidden, "too large"}};
  CHECK(pass_text(verdict) == "pass on 3 of 7 cases (interpreter)");
}

TEST_CASE(
    "every error kind has a TritonBench type in its group, or is not the submission's fault") {
  const std::map<std::string_view, std::set<std::string_view>> groups = {
      {"Syntax", {"SyntaxError", "IndentationError"}},
      {"Attribute & Type", {"AttributeError", "TypeError", "NotImplementedError"}},
      {"Name & Reference",
       {"NameError", "KeyError", "IndexError", "ModuleNotFoundError", "ImportError"}},
      {"Runtime & Logic",
       {"ValueError", "ZeroDivisionError", "RuntimeError", "RecursionError", "AssertionError",
        "CompilationError", "ResultsError"}},
  };
  const std::set<sandbox::ErrorKind> untyped = {sandbox::ErrorKind::none,
                                                sandbox::ErrorKind::unsupported,
                                                sandbox::ErrorKind::reference_error,
                                                sandbox::ErrorKind::cancelled,
                                                sandbox::ErrorKind::aborted,
                                                sandbox::ErrorKind::device_unhealthy,
                                                sandbox::ErrorKind::internal_error};
  std::set<std::string_view> used;
  for (int i = 0; i <= static_cast<int>(sandbox::ErrorKind::internal_error); ++i) {
    const auto kind = static_cast<sandbox::ErrorKind>(i);
    const auto type = error_type(kind);
    INFO(to_string(kind));
    REQUIRE(type.has_value() == (untyped.count(kind) == 0));
    if (!type) continue;
    REQUIRE(groups.count(type->group) == 1);
    CHECK(groups.at(type->group).count(type->type) == 1);
    used.insert(type->type);
  }
  CHECK(used.size() == 17);
}

}  // namespace assay::tools
