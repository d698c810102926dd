#include "server/runs/active_job.h"

#include <thread>

#include "sandbox/device/fake.h"
#include "server/runs/device_queue.h"
#include "tests/catch.h"

namespace assay::server {
namespace {

struct Fixture {
  ManualClock clock;
  DeviceQueue queue{"fake", sandbox::make_fake_device(1), {2, 2}};
  ActiveJob active{sandbox::Job{}, queue, clock};
  std::int64_t until_ns = clock.monotonic_ns() + 60'000'000'000;
};

}  // namespace

TEST_CASE("a wait returns the progress that differs from what the caller has seen") {
  Fixture job;
  const ActiveJob::Progress seen = job.active.progress();
  job.active.begin();
  const auto running = job.active.wait_for_change(seen, job.until_ns);
  REQUIRE(running);
  CHECK(running->state == tools::JobState::running);
  std::thread device([&] {
    job.active.monitor().stage_changed(sandbox::Stage::run);
    job.active.monitor().case_done(1, 3);
  });
  device.join();
  const auto later = job.active.wait_for_change(*running, job.until_ns);
  CHECK(later->stage == sandbox::Stage::run);
  CHECK(later->cases_done == 1);
  CHECK(later->cases_total == 3);
}

TEST_CASE("a wait without a change ends at its time") {
  Fixture job;
  const ActiveJob::Progress seen = job.active.progress();
  CHECK_FALSE(job.active.wait_for_change(seen, job.clock.monotonic_ns()));
  std::thread time([&] { job.clock.advance_ms(60'000); });  // reaches `until_ns`
  CHECK_FALSE(job.active.wait_for_change(seen, job.until_ns));
  time.join();
}

TEST_CASE("every wait ends when the job ends, and when the server stops") {
  for (const bool ends : {true, false}) {
    Fixture job;
    const ActiveJob::Progress seen = job.active.progress();
    std::thread waiter([&] {
      const auto changed = job.active.wait_for_change(seen, job.until_ns);
      REQUIRE(changed);
      CHECK(changed->over());
      CHECK((changed->verdict != nullptr) == ends);
    });
    if (ends)
      job.active.end(tools::JobState::finished, sandbox::Verdict{});
    else
      job.active.abandon();
    waiter.join();
  }
}

}  // namespace assay::server
