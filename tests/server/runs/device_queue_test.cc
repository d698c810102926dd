#include "server/runs/device_queue.h"

#include <thread>

#include "sandbox/device/fake.h"
#include "tests/catch.h"

namespace assay::server {
namespace {

std::shared_ptr<ActiveJob> job(DeviceQueue& queue, const Clock& clock, const std::string& id) {
  sandbox::Job made;
  made.id = id;
  return std::make_shared<ActiveJob>(made, queue, clock);
}

}  // namespace

TEST_CASE("a reserved place counts as taken until it is pushed or released") {
  const ManualClock clock;
  DeviceQueue queue("fake", sandbox::make_fake_device(1), 2);
  REQUIRE(queue.reserve());
  REQUIRE(queue.reserve());
  const Status refused = queue.reserve();
  REQUIRE_FALSE(refused);
  CHECK(refused.error().code == ErrorCode::resource_exhausted);
  CHECK(refused.error().message.find("2 jobs wait") != std::string::npos);
  queue.push(job(queue, clock, "job_1"));
  CHECK_FALSE(queue.reserve());
  queue.release();
  CHECK(queue.reserve());
  CHECK(queue.load().queued == 1);
}

TEST_CASE("a popped job is running and has left the queue; a removed job is never popped") {
  const ManualClock clock;
  DeviceQueue queue("fake", sandbox::make_fake_device(1), 2);
  const std::stop_source stop;
  for (const char* id : {"job_1", "job_2"}) queue.push_recovered(job(queue, clock, id));
  CHECK(queue.place_of("job_2").position == 2);
  CHECK(queue.remove("job_1"));
  CHECK_FALSE(queue.remove("job_1"));
  const auto popped = queue.pop(stop.get_token());
  REQUIRE(popped);
  CHECK(popped->job().id == "job_2");
  CHECK(popped->progress().state == tools::JobState::running);
  CHECK(queue.place_of("job_2").position == 0);
  CHECK((queue.load().queued == 0 && queue.load().running == 1));
  queue.ended(800);
  CHECK(queue.load().running == 0);
  CHECK(queue.place_of("job_2").expected_wait_ms == 0);
}

TEST_CASE("a stop ends a worker's wait, even when jobs wait") {
  const ManualClock clock;
  DeviceQueue queue("fake", sandbox::make_fake_device(1), 2);
  std::stop_source stop;
  std::thread worker([&] { CHECK(queue.pop(stop.get_token()) == nullptr); });
  stop.request_stop();
  worker.join();
  queue.push_recovered(job(queue, clock, "job_1"));
  CHECK(queue.pop(stop.get_token()) == nullptr);
}

}  // namespace assay::server
