#include "server/runs/device_queue.h"

#include <thread>
#include <vector>

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

TEST_CASE("a popped job runs and is no longer in the queue; a removed job is never popped") {
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

TEST_CASE("runs take turns, and within a run jobs keep their order") {
  JobQueue queue(1);
  for (const char* job : {"a1", "a2", "a3", "a4"}) queue.push("a", job);
  queue.push("b", "b1");
  queue.push("c", "c1");
  queue.push("b", "b2");
  std::vector<std::string> order;
  while (auto job = queue.pop()) order.push_back(*job);
  CHECK(order == std::vector<std::string>{"a1", "b1", "c1", "a2", "b2", "a3", "a4"});
  CHECK(queue.size() == 0);
}

TEST_CASE("positions are the order in which jobs will be popped") {
  JobQueue queue(1);
  for (int i = 0; i < 4; ++i) queue.push("a", "a" + std::to_string(i));
  for (int i = 0; i < 2; ++i) queue.push("b", "b" + std::to_string(i));
  queue.push("c", "c0");
  queue.pop();
  CHECK(queue.position("a0") == 0);
  while (queue.size() > 0) {
    const std::vector<std::string> all = {"a1", "a2", "a3", "b0", "b1", "c0"};
    std::string next;
    for (const std::string& job : all) {
      if (queue.position(job) == 1) next = job;
    }
    std::size_t highest = 0;
    for (const std::string& job : all) highest = std::max(highest, queue.position(job));
    CHECK(highest == queue.size());
    CHECK(*queue.pop() == next);
  }
}

TEST_CASE("a run whose last job was removed loses its turn") {
  JobQueue queue(1);
  queue.push("a", "a1");
  queue.push("b", "b1");
  CHECK(queue.remove("a1"));
  CHECK_FALSE(queue.remove("a1"));
  CHECK(queue.size() == 1);
  CHECK(*queue.pop() == "b1");
  CHECK_FALSE(queue.pop().has_value());
}

TEST_CASE("a wait is estimated from the last jobs, the position and the number of workers") {
  JobQueue queue(2);
  CHECK_FALSE(queue.expected_wait_ms(1));
  queue.add_duration(800);
  CHECK(queue.expected_wait_ms(1) == 400);
  CHECK(queue.expected_wait_ms(3) == 1'200);
  for (int i = 0; i < 50; ++i) queue.add_duration(100);
  CHECK(queue.expected_wait_ms(2) == 100);
}

}  // namespace assay::server
