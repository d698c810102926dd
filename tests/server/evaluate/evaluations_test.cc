#include "server/evaluate/evaluations.h"

#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "server/evaluate/evaluation_request.h"
#include "tests/server/runs/services_fixture.h"

namespace assay::server {
namespace {

using testing::ServicesFixture;

constexpr std::int64_t kDeadlineMs = 5'000;
constexpr const char* kSlow = "# fake: sleep_ms=20000\n";

tools::Services services_of(ServicesFixture& services) {
  return {.catalog = *services.catalog,
          .runs = services->runs(),
          .jobs = services->jobs(),
          .artifacts = services->artifacts(),
          .clock = services.clock};
}

/// Returns an evaluation with a deadline in kDeadlineMs.
Wanted wanted(const ServicesFixture& services, const std::string& source) {
  Wanted made;
  made.job = services.job(source);
  made.key = made.digest = source;
  made.deadline_unix_ms = services.clock.unix_ms() + kDeadlineMs;
  return made;
}

/// Waits until the evaluations keep `count` deadlines.
bool keeps(const Evaluations& evaluations, const ServicesFixture& services, std::size_t count) {
  for (int looks = 0; looks < 1'000; ++looks) {
    if (evaluations.deadlines() == count) return true;
    if (!services.clock.wait_for_looks(1)) break;
  }
  return evaluations.deadlines() == count;
}

}  // namespace

TEST_CASE("a deadline ends the wait for a device, and never a job that has begun") {
  ServicesFixture services({}, 1);
  const tools::Services all = services_of(services);
  InputGroups groups(services.clock);
  Evaluations evaluations(all, groups);
  const auto accepted = evaluations.accept(
      {}, {wanted(services, kSlow), wanted(services, "# fake: sleep_ms=20001\n")});
  REQUIRE(accepted.size() == 2);
  const std::string running = accepted[0].id, waiting = accepted[1].id;
  services.wait_until_running(running);
  CHECK(evaluations.deadlines() == 2);
  services.clock.advance_ms(kDeadlineMs);
  const auto ended = evaluations.look({}, waiting, 20'000, {});
  REQUIRE(ended);
  CHECK((*ended)["state"] == "cancelled");
  CHECK((*ended)["deadline_passed"] == true);
  CHECK((*ended)["masked"] == true);
  CHECK((*ended)["infra"] == false);
  CHECK(keeps(evaluations, services, 0));
  const auto going_on = evaluations.look({}, running, 0, {});
  REQUIRE(going_on);
  CHECK((*going_on)["state"] == "running");
  CHECK_FALSE(going_on->contains("deadline_passed"));
  CHECK(evaluations.cancel({}, running));
}

TEST_CASE("the deadline of an evaluation that has ended is forgotten within a minute") {
  ServicesFixture services;
  const tools::Services all = services_of(services);
  InputGroups groups(services.clock);
  Evaluations evaluations(all, groups);
  Wanted late = wanted(services, "# fake: pass\n");
  late.deadline_unix_ms = services.clock.unix_ms() + 1'000'000'000;
  const auto accepted = evaluations.accept({}, {late});
  services.end_of(accepted[0].id);
  CHECK(evaluations.deadlines() == 1);
  services.clock.advance_ms(60'000);
  CHECK(keeps(evaluations, services, 0));
}

}  // namespace assay::server
