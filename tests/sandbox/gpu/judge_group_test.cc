#include "sandbox/gpu/judge_group.h"

#include <array>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "base/mutex.h"
#include "tests/catch.h"
#include "tests/sandbox/pool/scripted_judge.h"

using namespace assay;
using namespace assay::sandbox;
using assay::sandbox::testing::ScriptedJudge;

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
    // The judge has started when the job gets it, and its start has a deadline of its own.
    starts.allow_one();
    const Result<JudgeGroup::Alone> first = group.judge_alone(Deadline::after_ms(0));
    REQUIRE(first);
    CHECK(starts.wait_for(0) == std::vector{2});
    CHECK_FALSE(group.judge_alone(Deadline::after_ms(0)));
    CHECK(first->judge->ready(Deadline::after_ms(0)));
    CHECK(starts.wait_for(0) == std::vector{2});
  }
  starts.allow_one();
  CHECK(group.judge_alone(Deadline::after_ms(0)));
}

TEST_CASE("judges that cannot settle are stopped, and a silent one takes no time from others") {
  std::array<ScriptedJudge::Log, 3> logs;
  std::stop_source stop;
  const auto script = [&stop](int number) {
    return [&stop, number](int socket, const nlohmann::json& request) {
      const bool settles = request.at("type") == "settle";
      if (request.at("job") == "job_cancelled") {
        stop.request_stop();
        return;
      }
      if (settles && number == 0) return;  // silent
      const char* right = settles ? "settled" : "referenced";
      ScriptedJudge::send(socket, {{"type", settles && number == 1 ? "linted" : right},
                                   {"job", request.at("job")},
                                   {"case", "small"}});
    };
  };
  JudgeGroup group({.limits = {.judges = 3, .loaders = 1},
                    .make =
                        [&](int number) {
                          return std::make_unique<ScriptedJudge>(
                              logs.at(static_cast<std::size_t>(number)), script(number));
                        },
                    .start = false});
  for (std::size_t i = 0; i < 3; ++i)
    REQUIRE(
        group.judge(i).compute_references({"job_1", "small"}, false, Deadline::after_ms(60'000)));
  CHECK(group.settle("job_2", Deadline::after_ms(1'000, stop.get_token())));
  CHECK(logs[0].stops == 1);
  CHECK(logs[1].stops == 1);
  CHECK(logs[2].stops == 0);
  const Status cancelled =
      group.settle("job_cancelled", Deadline::after_ms(60'000, stop.get_token()));
  REQUIRE_FALSE(cancelled);
  CHECK((cancelled.error().code == ErrorCode::cancelled));
  CHECK(logs[2].stops == 0);
}
