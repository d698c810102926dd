#include "server/site/snapshots.h"

#include "tests/catch.h"

using namespace assay;
using namespace assay::site;

namespace {

/// Makes snapshots whose only part is the revision, and counts them.
struct Fixture {
  int made = 0;
  bool fails = false;
  ManualClock clock;
  Snapshots snapshots{[this](const std::string&, std::int64_t,
                             const std::string& revision) -> Result<Snapshots::Parts> {
                        ++made;
                        if (fails) return fail(ErrorCode::unavailable, "no");
                        return Snapshots::Parts{{"index", revision}};
                      },
                      {.kept = 2, .principals = 2, .min_age_ms = 2'000},
                      clock};

  std::int64_t number_of(const std::string& principal, const std::string& revision) {
    return snapshots.newest(principal, revision).value()->number;
  }
};

}  // namespace

TEST_CASE("a snapshot is kept while the revision is the same, and for some time after that") {
  Fixture fixture;
  CHECK(fixture.number_of("al", "1") == 1);
  CHECK(fixture.number_of("al", "1") == 1);
  CHECK(fixture.number_of("al", "2") == 1);
  fixture.clock.advance_ms(2'000);
  CHECK(fixture.number_of("al", "1") == 1);
  CHECK(fixture.number_of("al", "2") == 2);
  CHECK(fixture.snapshots.find("al", 1)->parts.at("index") == "1");
  fixture.clock.advance_ms(2'000);
  CHECK(fixture.number_of("al", "3") == 3);
  CHECK(fixture.snapshots.find("al", 1) == nullptr);  // two are kept
  CHECK(fixture.made == 3);
}

TEST_CASE(
    "a principal sees no snapshot of another one, and the least used principal is forgotten") {
  Fixture fixture;
  CHECK(fixture.number_of("al", "1") == 1);
  CHECK(fixture.snapshots.find("bo", 1) == nullptr);
  fixture.clock.advance_ms(1);
  CHECK(fixture.number_of("bo", "1") == 2);
  fixture.clock.advance_ms(1);
  CHECK(fixture.number_of("al", "1") == 1);
  fixture.clock.advance_ms(1);
  CHECK(fixture.number_of("cy", "1") == 3);
  CHECK(fixture.snapshots.find("al", 1) != nullptr);
  CHECK(fixture.snapshots.find("bo", 2) == nullptr);
}

TEST_CASE("an error leaves the older snapshot in place, and is not tried again at once") {
  Fixture fixture;
  CHECK(fixture.number_of("al", "1") == 1);
  fixture.clock.advance_ms(2'000);
  fixture.fails = true;
  for (int look = 0; look < 3; ++look)
    CHECK(fixture.snapshots.newest("al", "2").error().code == ErrorCode::unavailable);
  CHECK(fixture.made == 2);
  CHECK(fixture.snapshots.find("al", 1) != nullptr);
  fixture.fails = false;
  fixture.clock.advance_ms(4'999);
  CHECK_FALSE(fixture.snapshots.newest("al", "2"));
  fixture.clock.advance_ms(1);
  CHECK(fixture.snapshots.newest("al", "2").value()->revision == "2");
  CHECK(fixture.made == 3);
  fixture.fails = true;
  CHECK_FALSE(fixture.snapshots.newest("bo", "1"));  // has no older snapshot
  CHECK_FALSE(fixture.snapshots.newest("bo", "1"));
  CHECK(fixture.made == 4);
}
