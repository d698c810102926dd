#include "metrics/error_groups.h"

#include <set>

#include "tests/catch.h"

using namespace assay::metrics;

TEST_CASE("four groups and seventeen types, each once") {
  std::set<std::string_view> types;
  std::size_t listed = 0;
  for (const ErrorGroup& group : kErrorGroups) {
    types.insert(group.types.begin(), group.types.end());
    listed += group.types.size();
  }
  CHECK(kErrorGroups.size() == 4);
  CHECK(listed == 17);
  CHECK(types.size() == 17);
}

TEST_CASE("counts per group and type, zeros included") {
  const std::vector<std::pair<std::string, std::string>> errors = {
      {"Runtime & Logic", "ResultsError"},
      {"Runtime & Logic", "ResultsError"},
      {"Name & Reference", "KeyError"}};
  const auto counts = count_errors(errors);
  REQUIRE(counts);
  REQUIRE(counts->size() == 4);
  CHECK((*counts)[0].total == 0);
  CHECK((*counts)[2].total == 1);
  CHECK((*counts)[2].types[1] == std::pair<std::string_view, std::int64_t>{"KeyError", 1});
  CHECK((*counts)[3].total == 2);
  CHECK((*counts)[3].types.back() == std::pair<std::string_view, std::int64_t>{"ResultsError", 2});
}

TEST_CASE("an unknown type is an error, never dropped") {
  CHECK_FALSE(
      count_errors(std::vector<std::pair<std::string, std::string>>{{"Syntax", "KeyError"}}));
  CHECK_FALSE(
      count_errors(std::vector<std::pair<std::string, std::string>>{{"Other", "KeyError"}}));
}
