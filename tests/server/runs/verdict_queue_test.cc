// Tests that verdicts are stored and announced in their order, also those that wait when the server
// stops, that a full queue makes its callers wait, and that a verdict that cannot be stored holds
// no others.
#include "server/runs/verdict_queue.h"

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <latch>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "sandbox/device/fake.h"
#include "server/runs/device_queue.h"
#include "tests/catch.h"
#include "tests/server/store/failing_store.h"

using namespace assay;
using namespace assay::server;

namespace {

constexpr VerdictWriter::Patience kPatience;
constexpr std::chrono::seconds kLongest(20);

/// A clock that stands still. A wait for the next attempt calls `on_wait`, and goes on if the
/// function has moved the clock; otherwise it waits until something else happens.
class SteppingClock final : public Clock {
 public:
  std::int64_t monotonic_ns() const override { return now_ns; }
  std::int64_t unix_ms() const override { return 1; }
  using Clock::wait_until;
  bool wait_until(Condition& condition, MutexLock& lock, std::stop_token stop, std::int64_t,
                  const std::function<bool()>& ready) const override {
    ++waits;
    if (on_wait) on_wait();
    return ready() || condition.wait(lock, std::move(stop), ready);
  }
  std::function<void()> on_wait;
  mutable std::atomic<int> waits = 0;
  std::atomic<std::int64_t> now_ns = 0;
};

/// A queue whose first announcement waits until the test lets it go on.
struct QueueFixture {
  std::shared_ptr<ActiveJob> accepted_job() {
    sandbox::Job job = store.job();
    REQUIRE(store.store->accept(job, "fake", {.limit = 10}, 1));
    return std::make_shared<ActiveJob>(std::move(job), device_queue, clock);
  }
  void push(const std::shared_ptr<ActiveJob>& job) {
    queue->push(job, stored::verdict_of(job->job()));
  }
  /// Returns a job that the store does not know, so that its verdict cannot be stored.
  std::shared_ptr<ActiveJob> unknown_job() {
    return std::make_shared<ActiveJob>(store.job(), device_queue, clock);
  }
  /// Waits until a caller of push() waits. Returns false if that takes too long.
  bool waits_for_room() const {
    const auto until = std::chrono::steady_clock::now() + kLongest;
    while (std::chrono::steady_clock::now() < until) {
      if (queue->callers_without_room() == 1) return true;
      std::this_thread::yield();
    }
    return false;
  }
  void finish() {
    go_on.count_down();
    stop.request_stop();
    queue.reset();  // joins the thread
  }
  bool is_stored(const std::string& job) { return store.store->finished_job(job, "")->has_value(); }

  stored::FailingStore store;
  SteppingClock clock;
  DeviceQueue device_queue{"fake", sandbox::make_fake_device(1), {8, 8}};
  VerdictWriter writer{*store.store, clock, kPatience};
  std::latch first_announced{1}, go_on{1};
  // Only the thread of the queue writes these.
  std::vector<std::string> announced;
  std::vector<sandbox::ErrorKind> outcomes;
  std::stop_source stop;
  std::unique_ptr<VerdictQueue> queue = std::make_unique<VerdictQueue>(
      writer, clock, 2, stop.get_token(), [this](ActiveJob& job, const sandbox::Verdict& verdict) {
        announced.push_back(verdict.job);
        outcomes.push_back(verdict.error_kind);
        job.end(tools::JobState::finished, verdict);
        if (announced.size() > 1) return;
        first_announced.count_down();
        go_on.wait();
      });
};

}  // namespace

TEST_CASE("a verdict is stored before it is announced, and a stop stores those that wait") {
  QueueFixture setup;
  const auto first = setup.accepted_job(), second = setup.accepted_job(),
             third = setup.accepted_job();
  setup.push(first);
  setup.first_announced.wait();
  CHECK(setup.is_stored(first->job().id));
  setup.push(second);
  setup.push(third);
  CHECK_FALSE(setup.is_stored(second->job().id));
  setup.stop.request_stop();
  setup.go_on.count_down();
  setup.queue.reset();  // joins the thread
  CHECK(setup.announced == std::vector{first->job().id, second->job().id, third->job().id});
  CHECK(setup.is_stored(second->job().id));
  CHECK(third->progress().verdict != nullptr);
}

TEST_CASE("a full queue makes its caller wait, until there is room or the server stops") {
  for (const bool stops : {false, true}) {
    QueueFixture setup;
    const auto first = setup.accepted_job();
    setup.push(first);
    setup.first_announced.wait();
    setup.push(setup.accepted_job());
    setup.push(setup.accepted_job());
    const auto late = setup.accepted_job();
    std::jthread caller([&] { setup.push(late); });
    CHECK(setup.waits_for_room());
    if (stops) setup.stop.request_stop();
    setup.go_on.count_down();
    caller.join();
    setup.stop.request_stop();
    setup.queue.reset();
    CHECK(setup.announced.size() >= 3);
    if (!stops) CHECK(setup.is_stored(late->job().id));
  }
}

TEST_CASE("a verdict that cannot be stored holds no others, and a stop makes the last attempt") {
  QueueFixture setup;
  const auto unknown = setup.unknown_job(), second = setup.accepted_job();
  setup.push(unknown);
  setup.push(second);
  setup.first_announced.wait();  // the clock stands still, so `unknown` is not tried again
  CHECK(setup.is_stored(second->job().id));
  setup.finish();
  CHECK(setup.announced == std::vector{second->job().id, unknown->job().id});
  CHECK(setup.outcomes.back() == sandbox::ErrorKind::internal_error);
}

TEST_CASE("a verdict that cannot be stored is tried again with a pause") {
  QueueFixture setup;
  setup.clock.on_wait = [&] {
    setup.clock.now_ns += std::chrono::nanoseconds(kPatience.pause).count();
  };
  setup.push(setup.unknown_job());
  setup.first_announced.wait();
  CHECK(setup.clock.waits == kPatience.attempts - 1);
  setup.finish();
  CHECK(setup.outcomes == std::vector{sandbox::ErrorKind::internal_error});
}

TEST_CASE("a store that fails for a moment costs no verdict of the queue") {
  QueueFixture setup;
  const auto job = setup.accepted_job();
  setup.clock.on_wait = [&] {
    setup.store.work_again();
    setup.clock.now_ns += std::chrono::nanoseconds(kPatience.pause).count();
    setup.clock.on_wait = nullptr;
  };
  setup.store.fail_at("INSERT ON verdicts");
  setup.push(job);
  setup.first_announced.wait();
  CHECK(setup.is_stored(job->job().id));
  CHECK(setup.clock.waits == 1);
  setup.finish();
  CHECK(setup.outcomes == std::vector{sandbox::ErrorKind::none});
}
