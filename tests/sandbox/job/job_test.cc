#include "sandbox/job/job.h"

#include <set>

#include "tests/catch.h"

namespace assay::sandbox {
namespace {

template <class Enum, class From>
void walk(Enum last, From from) {
  std::set<std::string_view> seen;
  for (int i = 0; i <= static_cast<int>(last); ++i) {
    const auto value = static_cast<Enum>(i);
    const std::string_view name = to_string(value);
    INFO(name);
    CHECK(name != "?");
    CHECK(seen.insert(name).second);
    CHECK(from(name) == value);
  }
  CHECK_FALSE(from("").has_value());
  CHECK_FALSE(from("?").has_value());
  CHECK_FALSE(from("Pass").has_value());
}

}  // namespace

TEST_CASE("every value of the job's enums has one name that reads back") {
  walk(JobKind::grade, job_kind_from);
  walk(Outcome::error, outcome_from);
  walk(Tier::none, tier_from);
  walk(Stage::done, stage_from);
  walk(ErrorKind::internal_error, error_kind_from);
}

TEST_CASE("a value outside its enum has no name that reads back") {
  CHECK(to_string(static_cast<ErrorKind>(1000)) == "?");
  CHECK_FALSE(error_kind_from(to_string(static_cast<ErrorKind>(1000))).has_value());
}

}  // namespace assay::sandbox
