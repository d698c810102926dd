#include "server/runs/device_queue.h"

#include <algorithm>
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
  DeviceQueue queue("fake", sandbox::make_fake_device(1), {2, 2});
  REQUIRE(queue.reserve({"", ""}));
  REQUIRE(queue.reserve({"", ""}));
  const Status refused = queue.reserve({"", ""});
  REQUIRE_FALSE(refused);
  CHECK(refused.error().code == ErrorCode::resource_exhausted);
  CHECK(refused.error().message.find("2 jobs wait") != std::string::npos);
  queue.push(job(queue, clock, "job_1"));
  CHECK_FALSE(queue.reserve({"", ""}));
  queue.release({"", ""});
  CHECK(queue.reserve({"", ""}));
  CHECK(queue.load().queued == 1);
}

TEST_CASE("a popped job runs and is no longer in the queue; a removed job is never popped") {
  const ManualClock clock;
  DeviceQueue queue("fake", sandbox::make_fake_device(1), {2, 2});
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
  queue.ended(popped->job(), 800);
  CHECK(queue.load().running == 0);
  CHECK_FALSE(queue.place_of("job_2").expected_wait_ms);
}

TEST_CASE("a stop ends a worker's wait, even when jobs wait") {
  const ManualClock clock;
  DeviceQueue queue("fake", sandbox::make_fake_device(1), {2, 2});
  std::stop_source stop;
  std::thread worker([&] { CHECK(queue.pop(stop.get_token()) == nullptr); });
  stop.request_stop();
  worker.join();
  queue.push_recovered(job(queue, clock, "job_1"));
  CHECK(queue.pop(stop.get_token()) == nullptr);
}

using sandbox::JobKind;

namespace {

void push(JobQueue& queue, const std::string& client, const std::vector<std::string>& jobs,
          JobKind kind = JobKind::test) {
  for (const std::string& job : jobs) queue.push({client, ""}, {job, kind});
}

std::vector<std::string> popped(JobQueue& queue, std::size_t count) {
  std::vector<std::string> order;
  while (order.size() < count) order.push_back(queue.pop().value_or("none"));
  return order;
}

using Order = std::vector<std::string>;

}  // namespace

TEST_CASE("clients take turns, and a client's jobs keep their order") {
  JobQueue queue(1);
  push(queue, "a", {"a1", "a2", "a3", "a4"});
  push(queue, "b", {"b1"});
  push(queue, "c", {"c1"});
  push(queue, "b", {"b2"});
  CHECK(popped(queue, 7) == Order{"a1", "b1", "c1", "a2", "b2", "a3", "a4"});
  CHECK(queue.size() == 0);
}

TEST_CASE("clients get equal shares of the time, so short jobs do not wait behind long ones") {
  JobQueue queue(1);
  queue.add_duration({"other", ""}, JobKind::grade, 3'000);
  queue.add_duration({"other", ""}, JobKind::compile, 1'000);
  push(queue, "long", {"l1", "l2", "l3"}, JobKind::grade);
  push(queue, "short", {"s1", "s2", "s3", "s4", "s5", "s6", "s7"}, JobKind::compile);
  // Other grades took 3,000 ms, so the grade l1 counts as 3,000 ms. Jobs of the client `short` then
  // run for 3,000 ms before l2 runs.
  CHECK(popped(queue, 10) == Order{"l1", "s1", "s2", "s3", "l2", "s4", "s5", "s6", "l3", "s7"});
}

TEST_CASE("a client that sends one long job at a time has no advantage") {
  JobQueue queue(1);
  queue.add_duration({"other", ""}, JobKind::grade, 3'000);
  queue.add_duration({"other", ""}, JobKind::compile, 1'000);
  push(queue, "short", {"s1", "s2", "s3", "s4", "s5"}, JobKind::compile);
  push(queue, "long", {"l1"}, JobKind::grade);
  CHECK(popped(queue, 2) == Order{"s1", "l1"});
  push(queue, "long", {"l2"}, JobKind::grade);  // the client's queue was empty until now
  CHECK(popped(queue, 3) == Order{"s2", "s3", "l2"});
}

TEST_CASE("a client that was idle gets no credit for that time") {
  JobQueue queue(1);
  queue.add_duration({"other", ""}, JobKind::test, 100);
  push(queue, "idle", {"i0"});
  push(queue, "busy", {"b1", "b2", "b3", "b4", "b5", "b6", "b7"});
  CHECK(popped(queue, 5) == Order{"i0", "b1", "b2", "b3", "b4"});
  push(queue, "idle", {"i1", "i2", "i3"});
  CHECK(popped(queue, 6) == Order{"b5", "i1", "b6", "i2", "b7", "i3"});
}

TEST_CASE("ever new clients do not keep an earlier client waiting, and are forgotten") {
  JobQueue queue(1);
  queue.add_duration({"other", ""}, JobKind::grade, 3'000);
  push(queue, "early", {"e1", "e2"}, JobKind::grade);
  CHECK(popped(queue, 1) == Order{"e1"});
  Order order;
  for (int i = 0; i < 100; ++i) {
    push(queue, "new " + std::to_string(i), {"n"}, JobKind::grade);
    order.push_back(*queue.pop());
  }
  const auto served = std::find(order.begin(), order.end(), "e2");
  REQUIRE(served != order.end());
  CHECK(served - order.begin() <= 3);
  CHECK(queue.remembered() <= 3);
  CHECK(popped(queue, 1) == Order{"n"});
  CHECK_FALSE(queue.pop().has_value());
  CHECK(queue.remembered() == 0);
}

TEST_CASE("a client whose jobs take longer than others of their kind is served less often") {
  JobQueue queue(1);
  queue.add_duration({"other", ""}, JobKind::test, 1'000);
  push(queue, "slow", {"s1", "s2", "s3"});
  push(queue, "quick", {"q1", "q2", "q3", "q4", "q5"});
  CHECK(popped(queue, 1) == Order{"s1"});
  queue.add_duration({"slow", ""}, JobKind::test, 3'000);  // 2,000 ms longer than was assumed
  CHECK(popped(queue, 3) == Order{"q1", "q2", "q3"});
  CHECK(popped(queue, 1) == Order{"s2"});
}

TEST_CASE("positions are the order in which jobs will be popped, also with unequal durations") {
  JobQueue queue(1);
  queue.add_duration({"other", ""}, JobKind::grade, 2'500);
  queue.add_duration({"other", ""}, JobKind::test, 1'000);
  push(queue, "a", {"a0", "a1", "a2", "a3"});
  push(queue, "b", {"b0", "b1"}, JobKind::grade);
  push(queue, "c", {"c0"});
  queue.pop();
  CHECK(queue.place_of("a0").position == 0);
  CHECK_FALSE(queue.place_of("a0").wait_ms);
  while (queue.size() > 0) {
    const Order all = {"a1", "a2", "a3", "b0", "b1", "c0"};
    std::string next;
    std::size_t highest = 0;
    for (const std::string& job : all) {
      if (queue.place_of(job).position == 1) next = job;
      highest = std::max(highest, queue.place_of(job).position);
    }
    CHECK(highest == queue.size());
    CHECK(*queue.pop() == next);
  }
}

TEST_CASE("a client whose last job was removed loses its turn") {
  JobQueue queue(1);
  push(queue, "a", {"a1"});
  push(queue, "b", {"b1"});
  CHECK(queue.remove("a1"));
  CHECK_FALSE(queue.remove("a1"));
  CHECK(queue.size() == 1);
  CHECK(*queue.pop() == "b1");
  CHECK_FALSE(queue.pop().has_value());
}

TEST_CASE("a wait is estimated from the last jobs of each kind and the number of workers") {
  JobQueue queue(2);
  push(queue, "a", {"a1", "a2"});
  push(queue, "a", {"a3"}, JobKind::grade);
  CHECK_FALSE(queue.place_of("a1").wait_ms);
  CHECK_FALSE(queue.wait_of_all_ms());
  queue.add_duration({"other", ""}, JobKind::test, 800);
  CHECK(queue.place_of("a1").wait_ms == 400);
  CHECK(queue.place_of("a2").wait_ms == 800);
  CHECK(queue.place_of("a3").wait_ms == 1'200);  // no grade has ended, so the longest mean is used
  queue.add_duration({"other", ""}, JobKind::grade, 5'000);
  CHECK(queue.place_of("a3").wait_ms == 3'300);
  CHECK(queue.wait_of_all_ms() == 3'300);
  for (int i = 0; i < 50; ++i) queue.add_duration({"other", ""}, JobKind::test, 100);
  CHECK(queue.place_of("a2").wait_ms == 100);
}

TEST_CASE("many runs of one principal have one share of the device together") {
  JobQueue queue(1);
  for (const char* run : {"r1", "r2", "r3", "r4"})
    for (const char* nth : {"a", "b"})
      queue.push({"alice", run}, {std::string(run) + nth, JobKind::test});
  for (const char* job : {"b1", "b2", "b3"}) queue.push({"bob", ""}, {job, JobKind::test});
  CHECK(popped(queue, 11) ==
        Order{"r1a", "b1", "r2a", "b2", "r3a", "b3", "r4a", "r1b", "r2b", "r3b", "r4b"});
}

TEST_CASE("a job can be removed from the middle of a principal's runs") {
  JobQueue queue(1);
  for (const char* run : {"r1", "r2"}) queue.push({"alice", run}, {run, JobKind::test});
  queue.push({"bob", ""}, {"b1", JobKind::test});
  CHECK(queue.remove("r1"));
  CHECK_FALSE(queue.remove("r1"));
  CHECK(queue.place_of("r2").position == 1);
  CHECK(popped(queue, 3) == Order{"r2", "b1", "none"});
}

TEST_CASE("one principal cannot take all places of a queue; running jobs free places") {
  const ManualClock clock;
  DeviceQueue queue("fake", sandbox::make_fake_device(1), {.total = 3, .per_principal = 2});
  const auto of_alice = [&](const std::string& id) {
    sandbox::Job made;
    made.id = id;
    made.caller = "alice";
    return std::make_shared<ActiveJob>(made, queue, clock);
  };
  REQUIRE(queue.reserve({"alice", ""}));
  queue.push(of_alice("job_1"));
  REQUIRE(queue.reserve({"alice", ""}));
  const Status refused = queue.reserve({"alice", ""});
  REQUIRE_FALSE(refused);
  CHECK(refused.error().code == ErrorCode::resource_exhausted);
  CHECK(refused.error().message.find("2 jobs of your token wait") != std::string::npos);
  CHECK(queue.reserve({"bob", ""}));
  CHECK_FALSE(queue.reserve({"carol", ""}));  // the total limit
  queue.release({"alice", ""});
  const std::stop_source stop;
  REQUIRE(queue.pop(stop.get_token()));
  for (int i = 0; i < 2; ++i) CHECK(queue.reserve({"alice", ""}));
  CHECK_FALSE(queue.reserve({"alice", ""}));
}

TEST_CASE("a server without tokens has no limit for each principal, because it cannot tell them") {
  DeviceQueue queue("fake", sandbox::make_fake_device(1), {.total = 3, .per_principal = 1});
  for (int i = 0; i < 3; ++i) CHECK(queue.reserve({"", ""}));
  CHECK_FALSE(queue.reserve({"", ""}));
}

TEST_CASE("practice of one caller is one client, and runs are others") {
  const ManualClock clock;
  DeviceQueue queue("fake", sandbox::make_fake_device(1), {8, 8});
  const auto push_job = [&](const std::string& id, const std::string& run,
                            const std::string& caller) {
    sandbox::Job made;
    made.id = id;
    made.run = run;
    made.caller = caller;
    queue.push_recovered(std::make_shared<ActiveJob>(made, queue, clock));
  };
  push_job("job_1", "", "anna");
  push_job("job_2", "", "anna");
  push_job("job_3", "", "bert");
  push_job("job_4", "run_1", "anna");
  CHECK(queue.place_of("job_1").position == 1);
  CHECK(queue.place_of("job_3").position == 2);
  CHECK(queue.place_of("job_4").position == 3);
  CHECK(queue.place_of("job_2").position == 4);
}

}  // namespace assay::server
