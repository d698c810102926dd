// Several jobs on one GPU: those that are only checked share it, one that is timed has it alone.
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <future>
#include <mutex>
#include <thread>
#include <vector>

#include "tests/catch.h"
#include "tests/sandbox/device/cuda_fixture.h"

using namespace assay;
using namespace assay::sandbox;
using namespace assay::sandbox::testing;

namespace {

/// Where threads wait for each other, up to a bound.
class Meeting {
 public:
  explicit Meeting(int expected) : expected_(expected) {}
  bool arrive() {
    std::unique_lock lock(mutex_);
    ++arrived_;
    changed_.notify_all();
    return changed_.wait_for(lock, std::chrono::seconds(60), [&] { return arrived_ >= expected_; });
  }

 private:
  const int expected_;
  int arrived_ = 0;
  std::mutex mutex_;
  std::condition_variable changed_;
};

std::unique_ptr<Device> shared_gpu(int sharers, SandboxConfig config = real_config()) {
  config.gpu_sharers = sharers;
  Result<std::unique_ptr<Device>> made =
      make_cuda_device(config, {.index = 0, .driver = "fake", .judge_device = "cpu"});
  if (!made) throw std::runtime_error(made.error().message);
  return std::move(*made);
}

}  // namespace

TEST_CASE("jobs whose answers are only checked have one GPU at the same time") {
  const std::unique_ptr<Device> device = shared_gpu(2);
  Meeting meeting(2);
  std::vector<std::future<std::pair<bool, Verdict>>> jobs;
  for (int i = 0; i < 2; ++i) {
    jobs.push_back(std::async(std::launch::async, [&] {
      bool met = false, launched = false;
      JobMonitor monitor;
      // Launched, and not yet let go of: with the GPU to itself neither would see the other here.
      monitor.stage_changed = [&](Stage stage) {
        launched = launched || stage == Stage::launch;
        if (stage == Stage::judge && launched && !met) met = meeting.arrive();
      };
      Verdict verdict = device->execute(copy_job(JobKind::test, kCopy), monitor);
      return std::pair(met, std::move(verdict));
    }));
  }
  for (auto& job : jobs) {
    const auto [met, verdict] = job.get();
    CHECK(met);
    INFO(verdict.summary << " " << verdict.detail);
    CHECK(verdict.outcome == Outcome::pass);
  }
}

TEST_CASE("while one is timed, no other job is on the GPU") {
  const std::unique_ptr<Device> device = shared_gpu(2);
  std::atomic<bool> other_launched{false}, seen_beside{false};
  std::future<Verdict> other;
  const auto run_other = [&] {
    JobMonitor monitor;
    monitor.stage_changed = [&](Stage stage) {
      other_launched = other_launched || stage == Stage::launch;
    };
    return device->execute(copy_job(JobKind::test, kCopy), monitor);
  };
  JobMonitor monitor;
  bool launched = false, judged = false;
  monitor.stage_changed = [&](Stage stage) {
    if (judged &&
        stage == Stage::launch) {  // of the timed blocks, since all cases were judged before
      if (!other.valid()) other = std::async(std::launch::async, run_other);
      std::this_thread::sleep_for(std::chrono::milliseconds(200));
      seen_beside = seen_beside || other_launched;
    }
    launched = launched || stage == Stage::launch;
    judged = judged || (launched && stage == Stage::judge);
  };
  Job job = copy_job(JobKind::profile, kCopy);
  job.cases.resize(1);
  const Verdict timed = device->execute(job, monitor);
  INFO(timed.summary << " " << timed.detail);
  CHECK(timed.outcome == Outcome::pass);
  REQUIRE(other.valid());
  CHECK(other.get().outcome == Outcome::pass);
  CHECK(other_launched);
  CHECK_FALSE(seen_beside);
}

TEST_CASE(
    "a job that found the memory taken while others had the GPU as well is run once more, alone") {
  const std::unique_ptr<Device> device = shared_gpu(2, filled_at_second_launcher("filled"));
  constexpr auto kHeld = std::chrono::milliseconds(500);
  Meeting meeting(2);
  std::atomic<bool> launched{false}, other_done{false}, seen_beside{false};
  std::future<Verdict> other = std::async(
      std::launch::async, [&] {  // it has the first launcher, and keeps its share for a while
        JobMonitor monitor;
        bool met = false;
        monitor.stage_changed = [&](Stage stage) {
          launched = launched || stage == Stage::launch;
          if (stage != Stage::judge || !launched || met) return;
          met = meeting.arrive();
          std::this_thread::sleep_for(kHeld);
          other_done = true;
        };
        Job job = copy_job(JobKind::test, kCopy);
        job.cases.resize(1);
        return device->execute(job, monitor);
      });
  for (int i = 0; i < 60'000 && !launched; ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  REQUIRE(launched);
  int launches = 0;
  JobMonitor monitor;
  monitor.stage_changed = [&](Stage stage) {
    if (stage != Stage::launch) return;
    if (++launches == 1)
      CHECK(meeting.arrive());
    else
      seen_beside = seen_beside || !other_done;
  };
  Job job = copy_job(JobKind::test, kCopy);
  job.cases.resize(1);
  job.cases[0].axes["n"] = 1 << 20;
  const Verdict verdict = device->execute(job, monitor);
  INFO(verdict.summary << " " << verdict.detail);
  CHECK(verdict.outcome == Outcome::pass);
  CHECK(verdict.cases.size() == 1);
  CHECK(launches >= 2);
  CHECK_FALSE(seen_beside);
  CHECK(other.get().outcome == Outcome::pass);
}
