#include <string>
#include <vector>

#include "sandbox/device/fake.h"
#include "server/runs/device_queue.h"
#include "server/runs/share_settings.h"
#include "tests/catch.h"

namespace assay::server {
namespace {

/// A queue of a device with eight places, and jobs of tokens and runs.
struct Shared {
  explicit Shared(const ShareSettings& shares)
      : queue("fake", sandbox::make_fake_device(8), {.total = 64, .per_principal = 32}, shares) {}

  void push(const std::string& id, const std::string& token, const std::string& run, bool batch) {
    sandbox::Job made;
    made.id = id;
    made.caller = token;
    made.run = run;
    made.batch = batch;
    REQUIRE(queue.reserve({token, run}));
    queue.push(std::make_shared<ActiveJob>(made, queue, clock));
  }
  /// Returns the next job, or null if no job may run. A stop that was requested before would hide
  /// waiting jobs, so the queue must have one that fits.
  std::shared_ptr<ActiveJob> pop() { return queue.pop(stop.get_token()); }
  void pop_all(int count) {
    for (int i = 0; i < count; ++i) running.push_back(pop());
  }

  const ManualClock clock;
  DeviceQueue queue;
  std::stop_source stop;
  std::vector<std::shared_ptr<ActiveJob>> running;
};

}  // namespace

TEST_CASE("batch jobs leave the reserve to clients that wait") {
  Shared shared({.reserve = 0.25});
  for (int i = 0; i < 8; ++i) shared.push("b" + std::to_string(i), "trainer", "", true);
  shared.pop_all(6);  // of eight places, two are kept
  shared.push("p1", "person", "", false);
  CHECK(shared.pop()->job().id == "p1");
  CHECK(shared.queue.load().queued == 2);
  shared.push("p2", "trainer", "", false);  // before older batch jobs of the same token
  CHECK(shared.pop()->job().id == "p2");
  shared.queue.ended(shared.running[0]->job(), 10);
  CHECK(shared.pop()->job().id == "b6");
}

TEST_CASE("a device with one place has no reserve") {
  CHECK(ShareSettings{.reserve = 0.5}.reserved(1) == 0);
  CHECK(ShareSettings{.reserve = 0.1}.reserved(4) == 1);
  CHECK(ShareSettings{}.reserved(64) == 0);
}

TEST_CASE("running jobs of a token and of a run are limited") {
  ShareSettings shares;
  shares.tokens["trainer"] = {.running = 3};
  shares.each_run = {.running = 2};
  Shared shared(shares);
  for (int i = 0; i < 3; ++i) shared.push("a" + std::to_string(i), "trainer", "run_a", false);
  for (int i = 0; i < 2; ++i) shared.push("b" + std::to_string(i), "trainer", "run_b", false);
  shared.pop_all(3);
  shared.push("other", "other", "", false);
  CHECK(shared.pop()->job().id == "other");  // `trainer` has three
  CHECK(shared.running[2]->job().id == "a1");
  shared.queue.ended(shared.running[1]->job(), 10);  // b0
  CHECK(shared.pop()->job().id == "b1");             // run_a has two
  shared.queue.set_shares({});
  CHECK(shared.pop()->job().id == "a2");
}

TEST_CASE("waiting jobs of a token and of a run are limited, and the message says so") {
  ShareSettings shares;
  shares.tokens["small"] = {.queued = 1};
  shares.runs["run_a"] = {.queued = 1};
  Shared shared(shares);
  shared.push("a", "small", "", false);
  const Status token = shared.queue.reserve({"small", ""});
  REQUIRE_FALSE(token);
  CHECK(token.error().message.find("a token may have at most 1") != std::string::npos);
  shared.push("b", "large", "run_a", false);
  const Status run = shared.queue.reserve({"large", "run_a"});
  REQUIRE_FALSE(run);
  CHECK(run.error().code == ErrorCode::resource_exhausted);
  CHECK(run.error().message.find("the run may have at most 1") != std::string::npos);
  CHECK(shared.queue.reserve({"large", "run_b"}));
}

TEST_CASE("jobs of tokens and of runs share the device by their weights") {
  JobQueue queue(1);
  ShareSettings shares;
  shares.tokens["heavy"] = {.weight = 2};
  shares.runs["run_b"] = {.weight = 3};
  queue.set_weights(shares);
  for (int i = 0; i < 8; ++i) {
    queue.push({"heavy", i % 2 == 0 ? "run_a" : "run_b"}, {"h", sandbox::JobKind::test});
    queue.push({"light", ""}, {"l", sandbox::JobKind::test});
  }
  std::string order;
  for (int i = 0; i < 9; ++i) order += *queue.pop();
  CHECK(std::count(order.begin(), order.end(), 'h') == 6);
}

}  // namespace assay::server
