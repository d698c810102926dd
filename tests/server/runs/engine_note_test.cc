// Tests which answers ask the engine of a device.
#include <atomic>
#include <memory>

#include "server/runs/job_service.h"
#include "tests/catch.h"
#include "tests/server/runs/services_fixture.h"

namespace assay::server {
namespace {

using sandbox::EngineState;
using testing::ServicesFixture;

/// A fake device that counts how often it is asked for its engine.
class AskedDevice final : public sandbox::Device {
 public:
  explicit AskedDevice(std::atomic<int>& asked)
      : fake_(sandbox::make_fake_device(1)), asked_(asked) {}
  sandbox::DeviceInfo info() const override { return fake_->info(); }
  sandbox::EngineNote engine() const override {
    ++asked_;
    return {.state = EngineState::pending, .said = "no worker"};
  }
  sandbox::Verdict execute(const sandbox::Job& job, sandbox::JobMonitor& monitor) override {
    return fake_->execute(job, monitor);
  }

 private:
  const std::unique_ptr<sandbox::Device> fake_;
  std::atomic<int>& asked_;
};

}  // namespace

TEST_CASE("the status of a queued job has the engine's note, and a list of jobs asks no engine") {
  std::atomic<int> asked = 0;
  ServicesFixture services;
  services.close();
  services.open("fake", std::make_unique<AskedDevice>(asked));
  StoredJobs& jobs = services->jobs();
  const auto running = jobs.submit({}, services.job("# fake: sleep_ms=20000\n"), "", "");
  REQUIRE(running);
  services.wait_until_running(*running);
  const auto queued = jobs.submit({}, services.job("# fake: sleep_ms=20001\n"), "", "");
  REQUIRE(queued);
  asked = 0;
  const auto unfinished = jobs.unfinished_of({});
  REQUIRE(unfinished.size() == 2);
  for (const StoredJobs::Unfinished& job : unfinished)
    CHECK(job.status.engine.state == EngineState::none);
  CHECK(asked == 0);
  const auto status = jobs.wait({}, *queued, 0, nullptr);
  REQUIRE(status);
  CHECK(status->engine.state == EngineState::pending);
  CHECK(asked == 1);
}

}  // namespace assay::server
