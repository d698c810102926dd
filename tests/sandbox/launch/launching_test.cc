#include "sandbox/launch/launching.h"

#include <signal.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "base/text.h"
#include "tests/catch.h"
#include "tests/sandbox/device/cuda_fixture.h"

using namespace assay;
using namespace assay::sandbox;
using namespace assay::sandbox::testing;

namespace {

/// A GPU that logs the launcher processes that it starts.
class Counted {
 public:
  explicit Counted(const std::string& name) {
    SandboxConfig config = real_config();
    config.parked_launchers = 1;
    list_ = config.state_dir + "/" + name + ".pids";
    std::filesystem::remove(list_);
    const std::string script = config.state_dir + "/" + name + ".sh";
    std::ofstream(script) << "#!/bin/sh\necho $$ >> " << shell_word(list_) << "\nexec "
                          << shell_word(config.launcher) << " \"$@\"\n";
    std::filesystem::permissions(script, std::filesystem::perms::owner_all);
    config.launcher = script;
    Result<std::unique_ptr<Device>> made =
        make_cuda_device(config, {.index = 0, .driver = "fake", .judge_device = "cpu"});
    REQUIRE(made);
    device_ = std::move(*made);
  }
  std::vector<pid_t> started() const {
    std::ifstream file(list_);
    return {std::istream_iterator<pid_t>(file), {}};
  }
  Verdict execute(JobKind kind, const std::string& source, const std::string& of_run,
                  const std::string& of_group = "") {
    Job job = copy_job(kind, source);
    job.run = of_run;
    job.input_seed = of_group;
    if (kind == JobKind::profile) job.cases.resize(1);
    JobMonitor monitor;
    return device_->execute(job, monitor);
  }
  Verdict grade(const std::string& source, const std::string& oracle) {
    Job job = copy_job(JobKind::grade, source);
    job.baseline_source = oracle;
    JobMonitor monitor;
    return device_->execute(job, monitor);
  }

 private:
  std::string list_;
  std::unique_ptr<Device> device_;
};

/// A source that causes a GPU fault instead of copying.
const std::string kFaulting =
    kImports +
    "@triton.jit\ndef fake_illegal_address():\n    pass\ndef plain_copy(x):\n    "
    "fake_illegal_address[(1,)]()\n    return x.clone()\n";

const std::string kWrong = "import torch\ndef plain_copy(x):\n    return torch.zeros_like(x)\n";

/// Kills a process. Returns when the process has ended, even if it is still a zombie.
void kill_and_wait(pid_t pid) {
  ::kill(pid, SIGKILL);
  for (int i = 0; i < 12'000; ++i) {
    std::ifstream file("/proc/" + std::to_string(pid) + "/stat");
    const std::string stat{std::istreambuf_iterator<char>(file), {}};
    if (stat.empty() || stat.find(") Z ") != std::string::npos) return;
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  FAIL("process " << pid << " did not end");
}

bool oracle_was_timed(const Verdict& verdict) {
  INFO(verdict.summary << " " << verdict.detail);
  for (const Hint& hint : verdict.hints) UNSCOPED_INFO(hint.text);
  REQUIRE(verdict.outcome == Outcome::pass);
  // Only the last case is large enough to be timed.
  return verdict.cases.back().baseline_latency.has_value();
}

}  // namespace

TEST_CASE("each submission has a launcher of its own, and oracles share one") {
  constexpr std::size_t kGrades = 5, kAhead = 2;
  Counted gpu("shared-oracle");
  for (std::size_t i = 0; i < kGrades; ++i) CHECK(oracle_was_timed(gpu.grade(kCopy, kClone)));
  CHECK(gpu.started().size() > kGrades);
  CHECK(gpu.started().size() <= kGrades + 1 + kAhead);
}

TEST_CASE(
    "tests and profiles of a run share a launcher, its grades have their own, and a failed launch "
    "ends the launcher") {
  constexpr std::size_t kAhead = 1, kKept = 1;
  Counted gpu("shared-run");
  const auto started_by = [&](auto&& jobs) {
    const std::size_t before = gpu.started().size();
    jobs();
    return gpu.started().size() - before;
  };
  REQUIRE(gpu.execute(JobKind::test, kCopy, "run_a").outcome == Outcome::pass);
  const std::size_t shared = started_by([&] {
    for (int i = 0; i < 4; ++i) {
      CHECK(gpu.execute(JobKind::test, kCopy, "run_a").outcome == Outcome::pass);
      CHECK(gpu.execute(JobKind::test, kWrong, "run_a").error_kind == ErrorKind::wrong_result);
      CHECK(gpu.execute(JobKind::profile, kCopy, "run_a").outcome == Outcome::pass);
    }
  });
  CHECK(shared <= kAhead);
  CHECK(started_by([&] {
          for (int i = 0; i < 4; ++i)
            CHECK(gpu.execute(JobKind::grade, kCopy, "run_a").outcome == Outcome::pass);
        }) >= 4 - kAhead);
  CHECK(started_by([&] {
          for (int i = 0; i < 4; ++i)
            // These jobs belong to no run.
            CHECK(gpu.execute(JobKind::test, kCopy, "").outcome == Outcome::pass);
        }) >= 4 - kAhead);
  CHECK(started_by([&] {
          for (int i = 0; i < 4; ++i)
            CHECK(gpu.execute(JobKind::test, kFaulting, "run_a").error_kind ==
                  ErrorKind::invalid_plan);
        }) >= 4 - kAhead - kKept);
}

TEST_CASE("jobs with the same inputs have a launcher each, even if they belong to one run") {
  constexpr std::size_t kAhead = 1;
  Counted gpu("group");
  REQUIRE(gpu.execute(JobKind::test, kCopy, "run_a").outcome == Outcome::pass);
  const std::size_t before = gpu.started().size();
  for (int i = 0; i < 4; ++i)
    CHECK(gpu.execute(JobKind::test, kCopy, "run_a", "a secret").outcome == Outcome::pass);
  CHECK(gpu.started().size() - before >= 4 - kAhead);
}

TEST_CASE("an oracle's launcher that was killed while idle is replaced") {
  Counted gpu("killed-oracle");
  CHECK(oracle_was_timed(gpu.grade(kCopy, kClone)));
  for (const pid_t pid : gpu.started()) kill_and_wait(pid);
  CHECK(oracle_was_timed(gpu.grade(kCopy, kClone)));
}

TEST_CASE("an oracle is timed after another oracle faulted") {
  Counted gpu("faulting-oracle");
  const Verdict without = gpu.grade(kCopy, kFaulting);
  CHECK_FALSE(oracle_was_timed(without));
  REQUIRE_FALSE(without.hints.empty());
  CHECK(without.hints.back().kind == HintKind::oracle_not_timed);
  CHECK(oracle_was_timed(gpu.grade(kCopy, kClone)));
}

TEST_CASE("the physical floor leaves out traffic that fits into the cache") {
  const DeviceFacts device{.target = "cuda:90",
                           .sms = 132,
                           .l2_bytes = 50 << 20,
                           .clock_khz = 1'980'000,
                           .bandwidth_bytes_per_s = 4'800'000'000'000};
  const auto small = physics_floor(device, 1e6, 0);
  REQUIRE(small);
  CHECK(small->possible_ns == 0);
  CHECK(small->expected_ns == Approx(1e6 / 4800));
  const auto large = physics_floor(device, 1e9, 0);
  REQUIRE(large);
  CHECK(large->possible_ns > 1.9e5);
  CHECK(large->possible_ns < large->expected_ns);
  CHECK_FALSE(physics_floor({}, 1, 1));
}

TEST_CASE("each error of a launch has its error of the verdict, under the same name") {
  for (const LaunchErrorKind kind : kLaunchErrorKinds) {
    if (kind == LaunchErrorKind::device_full) continue;
    CHECK(to_string(error_kind(kind)) == to_string(kind));
  }
}

TEST_CASE("only a signal of a crash is evidence that the driver crashed") {
  using How = ExitStatus::How;
  for (const int signal : {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT, SIGTRAP, SIGSYS}) {
    CHECK(driver_crashed({How::killed, signal}));
    CHECK(driver_crashed({How::dumped, signal}));
    CHECK_FALSE(driver_crashed({How::exited, signal}));
  }
  for (const int signal : {SIGKILL, SIGTERM, SIGINT, SIGHUP, SIGXCPU})
    CHECK_FALSE(driver_crashed({How::killed, signal}));
}

TEST_CASE("a launcher that others kill during a launch is no error of the submission") {
  Counted gpu("killed-during-launch");
  REQUIRE(gpu.execute(JobKind::test, kCopy, "run_a").outcome == Outcome::pass);
  // The run's launcher is kept for its next job, which finds that it has gone.
  for (const pid_t pid : gpu.started()) kill_and_wait(pid);
  const Verdict verdict = gpu.execute(JobKind::test, kCopy, "run_a");
  INFO(verdict.summary);
  CHECK((verdict.outcome == Outcome::pass || verdict.error_kind == ErrorKind::internal_error));
}

TEST_CASE("a device that others have filled is an error of Assay") {
  CHECK(error_kind(LaunchErrorKind::device_full) == ErrorKind::internal_error);
}
