#include "tools/model/error_taxonomy.h"

#include <map>
#include <set>
#include <string>

#include "tests/catch.h"

namespace assay::tools {

TEST_CASE(
    "every error kind has a TritonBench type in its group, or is none of the submission's doing") {
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
