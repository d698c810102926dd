// Tests that verdicts are stored and announced in their order, also those that wait when the server
// stops, and that a full queue makes its callers wait.
#include "server/runs/verdict_queue.h"

#include <atomic>
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
  bool is_stored(const std::string& job) { return store.store->finished_job(job, "")->has_value(); }

  stored::FailingStore store;
  SystemClock clock;
  DeviceQueue device_queue{"fake", sandbox::make_fake_device(1), {8, 8}};
  VerdictWriter writer{*store.store, clock};
  std::latch first_announced{1}, go_on{1};
  std::vector<std::string> announced;  // only the thread of the queue writes it
  std::stop_source stop;
  std::unique_ptr<VerdictQueue> queue = std::make_unique<VerdictQueue>(
      writer, 2, stop.get_token(), [this](ActiveJob& job, const sandbox::Verdict& verdict) {
        announced.push_back(verdict.job);
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
    std::atomic<bool> pushed = false;
    std::jthread caller([&] {
      setup.push(late);
      pushed = true;
    });
    CHECK_FALSE(pushed);
    if (stops) setup.stop.request_stop();
    setup.go_on.count_down();
    caller.join();
    setup.stop.request_stop();
    setup.queue.reset();
    CHECK(setup.announced.size() >= 3);
    if (!stops) CHECK(setup.is_stored(late->job().id));
  }
}
