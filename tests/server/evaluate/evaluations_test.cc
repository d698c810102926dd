#include "server/evaluate/evaluations.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "server/evaluate/evaluation_request.h"
#include "tests/server/runs/services_fixture.h"

namespace assay::server {
namespace {

using testing::ServicesFixture;

constexpr std::int64_t kDeadlineMs = 5'000;
constexpr std::int64_t kSweepMs = 60'000;  // all deadlines are looked at so often
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

/// A clock that notes for how long functions wait on it.
class PausesClock final : public Clock {
 public:
  explicit PausesClock(const Clock& clock) : clock_(clock) {}
  std::int64_t monotonic_ns() const override { return clock_.monotonic_ns(); }
  std::int64_t unix_ms() const override { return clock_.unix_ms(); }
  bool wait_until(Condition& condition, MutexLock& lock, std::stop_token stop,
                  std::int64_t until_ns, const std::function<bool()>& ready) const override {
    note(until_ns - monotonic_ns());
    return clock_.wait_until(condition, lock, std::move(stop), until_ns, ready);
  }
  std::int64_t pauses() const {
    const MutexLock lock(mutex_);
    return pauses_;
  }
  /// Waits for a pause that begins after the first `seen` ones, and returns the time of the newest.
  /// A pause that is over at once does not count.
  std::optional<std::int64_t> pause_ns_after(std::int64_t seen) const {
    MutexLock lock(mutex_);
    if (!began_.wait_for(lock, testing::kEventTimeout,
                         [&]() ASSAY_REQUIRES(mutex_) { return pauses_ > seen; }))
      return std::nullopt;
    return newest_ns_;
  }

 private:
  void note(std::int64_t pause_ns) const {
    const MutexLock lock(mutex_);
    if (pause_ns <= 0) return;
    ++pauses_;
    newest_ns_ = pause_ns;
    began_.notify_all();
  }

  const Clock& clock_;
  mutable Mutex mutex_;
  mutable Condition began_;
  mutable std::int64_t pauses_ ASSAY_GUARDED_BY(mutex_) = 0;
  mutable std::int64_t newest_ns_ ASSAY_GUARDED_BY(mutex_) = 0;
};

}  // namespace

TEST_CASE("a given key of an evaluation of a run is known after a restart") {
  ServicesFixture services;
  const std::string run = services.start(tools::Track::iterative);
  const auto ask = [&](const std::string& key) {
    InputGroups groups(services.clock);
    const tools::Services tools = services_of(services);
    Evaluations evaluations(tools, groups, {});
    Wanted one = wanted(services, "# fake: pass\n");
    one.run = run;
    one.key = key;
    one.call_id = key;
    one.group = "g";
    const auto answers = evaluations.accept({}, {one, one});
    REQUIRE_FALSE(answers[0].problem);
    CHECK(answers[1].duplicate);
    CHECK(answers[1].id == answers[0].id);
    CHECK(evaluations.look({}, answers[0].id, 0, {}).value()["key"] == key);
    return answers[0];
  };
  const Evaluations::Accepted first = ask("a");
  CHECK_FALSE(first.duplicate);
  services.end_of(first.id);
  services.close();
  services.open();
  const Evaluations::Accepted again = ask("a");
  CHECK(again.duplicate);
  CHECK(again.id == first.id);
  CHECK(ask("b").id != first.id);
  CHECK(services->runs().calls_left({}, run, "vector_add", sandbox::JobKind::test)->left == 8);
}

TEST_CASE("equal evaluations that are refused at the same time are all refused") {
  ServicesFixture services({.queued_per_device = {.total = 1, .per_principal = 1}}, 1);
  const tools::Services tools = services_of(services);
  InputGroups groups(services.clock);
  Evaluations evaluations(tools, groups);
  const auto first = evaluations.accept({}, {wanted(services, kSlow)});
  services.wait_until_running(first[0].id);
  REQUIRE_FALSE(evaluations.accept({}, {wanted(services, "# fake: sleep_ms=20001\n")})[0].problem);
  constexpr int kRounds = 20, kClients = 4;
  for (int round = 0; round < kRounds; ++round) {
    const Wanted one = wanted(services, "# fake: sleep_ms=3000" + std::to_string(round) + "\n");
    std::vector<char> refused(kClients, 0);
    std::vector<std::jthread> clients;
    for (int client = 0; client < kClients; ++client)
      clients.emplace_back([&, client] {
        refused[client] = evaluations.accept({}, {one, one})[1].problem.has_value();
      });
    clients.clear();
    CHECK(std::count(refused.begin(), refused.end(), 1) == kClients);
  }
}

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
  services.clock.advance_ms(kSweepMs);
  CHECK(keeps(evaluations, services, 0));
}

TEST_CASE("a deadline that is centuries away, or long over, leaves the other deadlines alone") {
  constexpr std::int64_t kEndOf9999Ms = 253'402'300'799'000;
  constexpr std::int64_t kBeginOf1Ms = -62'135'596'800'000;
  ServicesFixture services({}, 1);
  const PausesClock clock(services.clock);
  const tools::Services all = {.catalog = *services.catalog,
                               .runs = services->runs(),
                               .jobs = services->jobs(),
                               .artifacts = services->artifacts(),
                               .clock = clock};
  InputGroups groups(clock);
  Evaluations evaluations(all, groups);
  Wanted far = wanted(services, "# fake: sleep_ms=20001\n");
  Wanted over = wanted(services, "# fake: sleep_ms=20002\n");
  far.deadline_unix_ms = kEndOf9999Ms;
  over.deadline_unix_ms = kBeginOf1Ms;
  Wanted slow = wanted(services, kSlow);
  slow.deadline_unix_ms.reset();
  const auto running = evaluations.accept({}, {slow});
  services.wait_until_running(running[0].id);
  const auto accepted = evaluations.accept({}, {far, over});
  REQUIRE(accepted.size() == 2);
  const auto ended = evaluations.look({}, accepted[1].id, 20'000, {});
  REQUIRE(ended);
  CHECK((*ended)["deadline_passed"] == true);
  CHECK(keeps(evaluations, services, 1));
  const std::int64_t seen = clock.pauses();
  services.clock.advance_ms(kSweepMs);
  const std::optional<std::int64_t> pause_ns = clock.pause_ns_after(seen);
  REQUIRE(pause_ns);
  CHECK(*pause_ns <= kSweepMs * kNsPerMs);
  const auto waiting = evaluations.look({}, accepted[0].id, 0, {});
  REQUIRE(waiting);
  CHECK((*waiting)["state"] == "queued");
  CHECK(evaluations.cancel({}, running[0].id));
}

}  // namespace assay::server
