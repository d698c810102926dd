#include "sandbox/job/profile.h"

#include "tests/catch.h"

using namespace assay::sandbox;

TEST_CASE("every name reads back as its value, and no other text does") {
  for (const ProfileDetail one :
       {ProfileDetail::summary, ProfileDetail::artifacts, ProfileDetail::timeline,
        ProfileDetail::counters, ProfileDetail::sass, ProfileDetail::source,
        ProfileDetail::roofline})
    CHECK(profile_detail_from(to_string(one)) == one);
  for (const Bound one : {Bound::memory, Bound::compute, Bound::latency, Bound::launch})
    CHECK(bound_from(to_string(one)) == one);
  for (const Evidence one : {Evidence::counters, Evidence::timing, Evidence::compiled})
    CHECK(evidence_from(to_string(one)) == one);
  CHECK_FALSE(profile_detail_from("everything"));
  CHECK_FALSE(bound_from(""));
  CHECK_FALSE(evidence_from("?"));
}
