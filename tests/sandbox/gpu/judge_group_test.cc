#include "sandbox/gpu/judge_group.h"

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/mutex.h"
#include "tests/catch.h"

using namespace assay;
using namespace assay::sandbox;

namespace {

/// The starts of all fake processes of a group.
class Starts {
 public:
  /// Notes that a start has begun, and waits until the test allows it to end.
  void begin(int number, const Deadline& deadline) {
    MutexLock lock(mutex_);
    begun_.push_back(number);
    changed_.notify_all();
    deadline.wait(changed_, lock, [&]() ASSAY_REQUIRES(mutex_) { return allowed_ > 0; });
    --allowed_;
  }
  void allow_one() {
    const MutexLock lock(mutex_);
    ++allowed_;
    changed_.notify_all();
  }
  /// Waits until this number of starts has begun, and returns the numbers of the processes.
  std::vector<int> wait_for(std::size_t count) {
    MutexLock lock(mutex_);
    Deadline::after_ms(60'000).wait(
        changed_, lock, [&]() ASSAY_REQUIRES(mutex_) { return begun_.size() >= count; });
    return begun_;
  }

 private:
  Mutex mutex_;
  Condition changed_;
  std::vector<int> begun_ ASSAY_GUARDED_BY(mutex_);
  int allowed_ ASSAY_GUARDED_BY(mutex_) = 0;
};

class FakeProcess final : public JudgeProcess {
 public:
  FakeProcess(Starts& starts, int number) : starts_(starts), number_(number) {}
  Result<JudgeReady> start(const Deadline& deadline) override {
    starts_.begin(number_, deadline);
    started_ = true;
    return JudgeReady{};
  }
  bool alive() override { return started_; }
  int socket() const override { return -1; }
  std::optional<std::string> how_it_ended() override { return std::nullopt; }
  void stop() override { started_ = false; }
  const std::string& device() const override { return device_; }

 private:
  Starts& starts_;
  const int number_;
  const std::string device_ = "cpu";
  bool started_ = false;
};

JudgeGroup::Options fakes(Starts& starts, int judges, bool start) {
  return {.limits = {.judges = judges, .loaders = judges},
          .make = [&starts](int number) { return std::make_unique<FakeProcess>(starts, number); },
          .start = start};
}

}  // namespace

TEST_CASE("judges start one after the other") {
  Starts starts;
  const JudgeGroup group(fakes(starts, 3, true));
  CHECK(starts.wait_for(1) == std::vector{0});
  starts.allow_one();
  CHECK(starts.wait_for(2) == std::vector{0, 1});
  starts.allow_one();
  CHECK(starts.wait_for(3) == std::vector{0, 1, 2});
  starts.allow_one();
}

TEST_CASE("a judge that has had no request does not start for a job that wants an idle GPU") {
  Starts starts;
  JudgeGroup group(fakes(starts, 2, false));
  CHECK(group.settle("job_1", Deadline::after_ms(0)));
  group.free_memory(Deadline::after_ms(0));
  CHECK(starts.wait_for(0).empty());
}

TEST_CASE("one job at a time has a judge of its own") {
  Starts starts;
  JudgeGroup group(fakes(starts, 2, false));
  {
    const Result<JudgeGroup::Alone> first = group.judge_alone(Deadline::after_ms(0));
    REQUIRE(first);
    CHECK_FALSE(group.judge_alone(Deadline::after_ms(0)));
    starts.allow_one();
    CHECK(first->judge->ready(Deadline::after_ms(60'000)));
    CHECK(starts.wait_for(1) == std::vector{2});
  }
  CHECK(group.judge_alone(Deadline::after_ms(0)));
}
