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
  walk(HintKind::artifact_too_large, hint_kind_from);
  walk(SkipReason::hidden, skip_reason_from);
  walk(DropReason::not_written, drop_reason_from);
}

TEST_CASE("every value of the profile's enums has one name that reads back") {
  for (const ProfileDetail one :
       {ProfileDetail::summary, ProfileDetail::artifacts, ProfileDetail::timeline,
        ProfileDetail::counters, ProfileDetail::sass, ProfileDetail::source,
        ProfileDetail::roofline, ProfileDetail::sanitize})
    CHECK(profile_detail_from(to_string(one)) == one);
  for (const Bound one : {Bound::memory, Bound::compute, Bound::latency, Bound::launch})
    CHECK(bound_from(to_string(one)) == one);
  for (const Evidence one : {Evidence::counters, Evidence::timing, Evidence::compiled})
    CHECK(evidence_from(to_string(one)) == one);
  CHECK_FALSE(profile_detail_from("everything"));
  CHECK_FALSE(bound_from(""));
  CHECK_FALSE(evidence_from("?"));
}

TEST_CASE(
    "a cancelled job and a wrong reference tell nothing about the submission, and are no fault of "
    "Assay") {
  for (const ErrorKind kind :
       {ErrorKind::aborted, ErrorKind::device_unhealthy, ErrorKind::internal_error}) {
    CHECK(is_infrastructure_error(kind));
    CHECK(is_inconclusive(kind));
  }
  CHECK_FALSE(is_infrastructure_error(ErrorKind::cancelled));
  CHECK(is_inconclusive(ErrorKind::cancelled));
  CHECK_FALSE(is_infrastructure_error(ErrorKind::reference_error));
  CHECK(is_inconclusive(ErrorKind::reference_error));
  CHECK_FALSE(is_inconclusive(ErrorKind::wrong_result));
  CHECK_FALSE(is_inconclusive(ErrorKind::none));
}

TEST_CASE("skipped cases are shown by reason, and hidden ones by their number") {
  CHECK(lines_of({{{"large", "wide"}, 3, SkipReason::too_large, "too large"},
                  {{"half"}, 0, SkipReason::other, "needs a GPU"},
                  {{"tall"}, 0, SkipReason::too_large, "too large"}}) ==
        std::vector<std::string>{"large, wide, 3 hidden, tall: too large", "half: needs a GPU"});
  CHECK(lines_of({}).empty());
}

TEST_CASE("a value outside its enum has no name that reads back") {
  CHECK(to_string(static_cast<ErrorKind>(1000)) == "?");
  CHECK_FALSE(error_kind_from(to_string(static_cast<ErrorKind>(1000))).has_value());
}

}  // namespace assay::sandbox
