// Tests what a grade does between the end of its timing and its verdict: it gives the GPU and the
// oracle's launcher back, the judge compares the timed outputs one by one, and a launch that finds
// the GPU's memory full has a second attempt. The launchers run the fake driver, and the judge's
// device memory is a memory file.
#include "sandbox/gpu/gpu_job.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <functional>
#include <future>
#include <iterator>
#include <memory>
#include <stop_token>
#include <string>
#include <utility>

#include "tests/catch.h"
#include "tests/sandbox/device/full_launcher.h"
#include "tests/sandbox/device/sharing_harness.h"
#include "tests/sandbox/gpu/shared_gpu.h"

using namespace assay;
using namespace assay::sandbox;
using namespace assay::sandbox::testing;

namespace {

SandboxConfig sharing_config(const std::string& name) {
  SandboxConfig config = real_config();
  config.harness_dir = SharingHarness(name).folder();
  config.host_case_bytes = 0;
  config.parked_launchers = 1;
  config.gpu_sharers = 2;
  return config;
}

/// A grade with two timed cases. They are public, because the monitor is told little after a
/// submission has got hidden cases.
Job two_cases(const std::string& source) {
  Job job = copy_job(JobKind::grade, source);
  job.baseline_source = kCopy;
  job.cases.resize(1);
  job.cases[0].id = "public1000";
  job.cases[0].axes = {{"n", 1'000}};
  job.cases.push_back(job.cases[0]);
  job.cases[1].id = "public4096";
  job.cases[1].axes = {{"n", 4'096}};
  return job;
}

/// Returns a submission whose kernel for `n` elements works only at its first launch, so that its
/// timed outputs are wrong.
std::string wrong_when_timed(int n) {
  return kImports +
         "@triton.jit\ndef fake_copy(x, y, n):\n    pass\n"
         "@triton.jit\ndef fake_copy_once(x, y, n):\n    pass\n"
         "def plain_copy(x):\n    y = torch.empty_like(x)\n    kernel = fake_copy_once if "
         "x.numel() "
         "== " +
         std::to_string(n) + " else fake_copy\n    kernel[(1,)](x, y, x.numel())\n    return y\n";
}

/// Calls `compares` in each comparison of timed outputs after the GPU was given back, and `waits`
/// whenever the job waits for the GPU after that.
class Watch {
 public:
  Watch(
      SharedGpu& gpu, std::function<void()> compares, std::function<void()> waits = [] {}) {
    monitor.stage_changed = [this, &gpu, compares = std::move(compares),
                             waits = std::move(waits)](Stage stage) {
      if (stage == Stage::queue && compared > 0) waits();
      if (stage != Stage::recheck) return;
      // If the job has the GPU alone, it does not share it: it only copies the outputs.
      if (!gpu.scheduler().lock(GpuScheduler::Mode::shared, Deadline::after_ms(0))) {
        ++copied;
      } else {
        ++compared;
        compares();
      }
    };
  }
  Watch(const Watch&) = delete;
  Watch& operator=(const Watch&) = delete;

  JobMonitor monitor;
  int copied = 0, compared = 0;
};

std::string cache_key(const Job& job, std::size_t i) {
  return BaselineCache::key(job.operator_name, "", job.cases[i]);
}

std::string words_of(const Verdict& verdict) { return verdict.summary + " " + verdict.detail; }

std::string text_of(const std::filesystem::path& path) {
  std::ifstream in(path);
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

}  // namespace

TEST_CASE("while timed outputs are compared, other jobs have the GPU before each comparison") {
  SharedGpu gpu(sharing_config("grade-gives-back"));
  bool had_gpu_alone = true;
  std::future<bool> other;  // a job that needs the GPU alone
  Watch watch(
      gpu,
      [&] {
        if (other.valid()) had_gpu_alone = false;  // the job kept the GPU since the last comparison
        if (!had_gpu_alone) return;
        other = std::async(std::launch::async, [&] {
          return gpu.scheduler()
              .lock(GpuScheduler::Mode::exclusive, for_another_thread())
              .has_value();
        });
        CHECK(gpu.scheduler().wait_for_waiters(GpuScheduler::Mode::exclusive, 1,
                                               for_another_thread()));
      },
      [&] { had_gpu_alone = had_gpu_alone && other.get(); });
  const Verdict verdict = gpu.execute(two_cases(kCopy), watch.monitor);
  INFO(words_of(verdict));
  CHECK(verdict.outcome == Outcome::pass);
  CHECK(verdict.perf);
  CHECK(watch.copied >= 2 * TimingSession::kMinRounds);
  CHECK(watch.compared == watch.copied);
  REQUIRE(other.valid());
  CHECK(other.get());
  CHECK(had_gpu_alone);
}

TEST_CASE("the oracle's launcher is free for other jobs before timed outputs are compared") {
  SharedGpu gpu(sharing_config("grade-oracle"));
  int has_launched = -1;
  Watch watch(gpu, [&] {
    if (has_launched >= 0) return;
    LauncherPool& launchers = gpu.context().launchers;
    Result<std::unique_ptr<LauncherClient>> taken =
        launchers.take_for_oracle(operator_folder(), for_another_thread());
    has_launched = taken ? (*taken)->launches() : 0;
    if (taken) launchers.keep(operator_folder(), std::move(*taken));
  });
  const Verdict verdict = gpu.execute(two_cases(kCopy), watch.monitor);
  INFO(words_of(verdict));
  CHECK(verdict.perf);
  CHECK(has_launched >= 2 * 2);  // two blocks in each of the two cases
}

TEST_CASE("times that were measured beside wrong outputs are not kept for later jobs") {
  SharedGpu gpu(sharing_config("grade-keeps"));
  MeasurementCache& known = gpu.context().measurements;
  JobMonitor monitor;
  for (const int n : {1'000, 4'096}) {
    const Job job = two_cases(wrong_when_timed(n));
    const Verdict wrong = gpu.execute(job, monitor);
    INFO(words_of(wrong));
    CHECK(wrong.error_kind == ErrorKind::wrong_result);
    CHECK_FALSE(wrong.perf);
    REQUIRE(wrong.cases.size() == 2);
    CHECK(wrong.cases[n == 1'000 ? 0 : 1].reason.starts_with("right at first, wrong when"));
    // A case whose timed outputs were right has a time; one that was not compared any more has
    // none.
    CHECK(wrong.cases[0].latency.has_value() == (n == 4'096));
    CHECK_FALSE(wrong.cases[1].latency);
    for (const std::size_t i : {0u, 1u}) {
      CHECK(wrong.cases[i].baseline_latency);
      CHECK_FALSE(known.graded.find(cache_key(job, i)).baseline);
      CHECK_FALSE(known.baselines.find(cache_key(job, i)).baseline);
      CHECK(known.pytorch.find(cache_key(job, i)).measured == 0);
    }
  }
  const Job job = two_cases(kCopy);
  const Verdict right = gpu.execute(job, monitor);
  INFO(words_of(right));
  CHECK(right.perf);
  for (const std::size_t i : {0u, 1u}) {
    CHECK(known.graded.find(cache_key(job, i)).baseline);
    CHECK(known.baselines.find(cache_key(job, i)).baseline);
    CHECK(known.pytorch.find(cache_key(job, i)).measured == 1);
  }
}

TEST_CASE("a launch of timed alternatives that finds the memory full is tried once more, alone") {
  for (const int times : {1, 99}) {
    const std::string name = "ranked" + std::to_string(times);
    const FullLauncher full(name, FullLauncher::kRanked, times);
    SandboxConfig config = sharing_config("grade-" + name);
    config.launcher = full.program();
    SharedGpu gpu(config);
    JobMonitor monitor;
    const Verdict verdict = gpu.execute(two_cases(tuned("pass")), monitor);
    INFO(words_of(verdict));
    REQUIRE(verdict.cases.size() == 2);
    if (times == 1) {
      CHECK(verdict.outcome == Outcome::pass);
      CHECK(verdict.perf);
      CHECK(full.launches() == 3);  // once in vain, and once for each case
    } else {
      CHECK(verdict.error_kind == ErrorKind::internal_error);
      CHECK(full.launches() == 2);
      CHECK(verdict.cases[0].outcome == Outcome::pass);  // nothing shows that it is to blame
      CHECK_FALSE(verdict.cases[1].latency);             // its timed outputs were not compared
      CHECK_FALSE(gpu.context().measurements.graded.find(cache_key(two_cases(kCopy), 0)).baseline);
    }
  }
}

TEST_CASE("a second attempt after a lack of memory judges what the first attempt has not") {
  SandboxConfig config = sharing_config("grade-second");
  const FullLauncher full("second", FullLauncher::kRanked, 1);
  config.launcher = full.program();
  SharedGpu gpu(config);
  JobMonitor monitor;
  // A copy by torch does the work of the configuration that was timed.
  const Verdict verdict = gpu.execute(two_cases(tuned(R"(args["y"].copy_(args["x"]))")), monitor);
  INFO(words_of(verdict));
  CHECK(verdict.error_kind == ErrorKind::unattributed);
  CHECK(full.launches() == 2);
}

TEST_CASE("a timed launch that finds the memory full is tried once more, with all that is free") {
  for (const int times : {1, 99}) {
    const std::string name = "timed" + std::to_string(times);
    const FullLauncher full(name, FullLauncher::kTimed, times);
    SandboxConfig config = sharing_config("grade-" + name);
    config.launcher = full.program();
    // Notes when a judge gives back the memory that no job needs.
    const std::string noted = config.state_dir + "/" + name + ".freed";
    std::filesystem::remove(noted);
    std::ofstream(config.harness_dir + "/judging/judge.py", std::ios::app)
        << "\n_free_memory = Judge._free_memory\ndef _noted(self, frame):\n    open('" << noted
        << "', 'a').write('x')\n    return _free_memory(self, frame)\n"
           "Judge._free_memory = _noted\n";
    SharedGpu gpu(config);
    JobMonitor monitor;
    const Verdict verdict = gpu.execute(two_cases(kCopy), monitor);
    INFO(words_of(verdict));
    if (times == 1) {
      CHECK(verdict.outcome == Outcome::pass);
      CHECK(verdict.perf);
    } else {
      CHECK(verdict.error_kind == ErrorKind::internal_error);
      CHECK(full.launches() == 2);
      for (const CaseRecord& one : verdict.cases) CHECK_FALSE(one.latency);
    }
    CHECK(text_of(noted) == "x");
  }
}

TEST_CASE("an oracle that finds the memory full is timed once more, with all that is free") {
  for (const int times : {1, 99}) {
    const std::string name = "oracle" + std::to_string(times);
    const FullLauncher full(name, FullLauncher::kOracle, times);
    SandboxConfig config = sharing_config("grade-" + name);
    config.launcher = full.program();
    SharedGpu gpu(config);
    JobMonitor monitor;
    const Verdict verdict = gpu.execute(two_cases(kCopy), monitor);
    INFO(words_of(verdict));
    CHECK(verdict.outcome == Outcome::pass);
    CHECK(verdict.perf.has_value() == (times == 1));
    const bool is_told =
        std::any_of(verdict.hints.begin(), verdict.hints.end(),
                    [](const Hint& hint) { return hint.kind == HintKind::oracle_not_timed; });
    CHECK(is_told == (times != 1));
    if (times != 1) CHECK(full.launches() == 2);
  }
}

TEST_CASE("outputs of a first attempt to time are compared too") {
  // The first timed launch of the first case succeeds, and one of the second case fails.
  SandboxConfig config = sharing_config("grade-both");
  const FullLauncher full(
      "both", std::string(FullLauncher::kTimed) + " and request['case'] == 'public4096'", 1);
  config.launcher = full.program();
  SharedGpu gpu(config);
  Watch watch(gpu, [] {});
  const Verdict verdict = gpu.execute(two_cases(kCopy), watch.monitor);
  INFO(words_of(verdict));
  CHECK(verdict.perf);
  CHECK(watch.copied >= 3 * TimingSession::kMinRounds);
  // The outputs of the first attempt are compared before the second one, while the job is alone. So
  // each of them is counted twice as copied.
  CHECK(watch.compared >= 2 * TimingSession::kMinRounds);
  CHECK(watch.copied > watch.compared);
  CHECK((watch.copied - watch.compared) % 2 == 0);
}

TEST_CASE("the time in which the judge makes new inputs is no time of the submission's launch") {
  constexpr std::int64_t kLaunchMs = 3'000;
  const std::string name = "grade-slow-inputs", mark = real_config().state_dir + "/" + name;
  std::filesystem::remove(mark);
  SandboxConfig config = sharing_config(name);
  std::ofstream(config.harness_dir + "/judging/judge.py", std::ios::app)
      << "\n_refresh = Judge._refresh\ndef _slow_once(self, frame):\n    import time\n"
         "    if not os.path.exists('"
      << mark << "'):\n        open('" << mark << "', 'w').close()\n        time.sleep("
      << kLaunchMs / 1'000 << ".5)\n    return _refresh(self, frame)\n"
      << "Judge._refresh = _slow_once\n";
  SharedGpu gpu(config);
  Job job = two_cases(kCopy);
  job.limits.launch_wall_ms = kLaunchMs;
  JobMonitor monitor;
  const Verdict verdict = gpu.execute(job, monitor);
  INFO(words_of(verdict));
  CHECK(std::filesystem::exists(mark));
  CHECK(verdict.perf);
}

TEST_CASE("a hidden case that is wrong when it is timed does not end the comparisons") {
  // Otherwise the duration, and the number of stages, would reveal which hidden case was wrong.
  SharedGpu gpu(sharing_config("grade-hidden"));
  Job job = two_cases(wrong_when_timed(1'000));
  for (CaseRequest& one : job.cases) one.hidden = true;
  job.cases.insert(job.cases.begin(), job.cases[0]);
  job.cases[0].hidden = false;
  job.cases[0].id = "public2000";
  job.cases[0].axes = {{"n", 2'000}};
  Watch watch(gpu, [] {});
  const Verdict verdict = gpu.execute(job, watch.monitor);
  INFO(words_of(verdict));
  CHECK(verdict.error_kind == ErrorKind::wrong_result);
  CHECK_FALSE(verdict.perf);
  REQUIRE(verdict.cases.size() == 3);
  CHECK(verdict.cases[0].latency);
  CHECK(verdict.cases[1].outcome == Outcome::fail);
  CHECK_FALSE(verdict.cases[1].latency);
  CHECK(verdict.cases[2].outcome == Outcome::pass);
  CHECK(verdict.cases[2].latency);
  CHECK(watch.compared == watch.copied);
  CHECK_FALSE(gpu.context().measurements.graded.find(cache_key(job, 0)).baseline);
}

TEST_CASE("a hidden case that is wrong when it is timed does not end the timing") {
  SandboxConfig config = sharing_config("grade-hidden-now");
  std::ofstream(config.harness_dir + "/judging/timed_rounds.py", std::ios::app)
      << "\nMOST_ASIDE = 0\n";  // every output is compared at once
  SharedGpu gpu(config);
  Job job = two_cases(wrong_when_timed(1'000));
  for (CaseRequest& one : job.cases) one.hidden = true;
  JobMonitor monitor;
  const Verdict verdict = gpu.execute(job, monitor);
  INFO(words_of(verdict));
  CHECK(verdict.error_kind == ErrorKind::wrong_result);
  CHECK_FALSE(verdict.perf);
  REQUIRE(verdict.cases.size() == 2);
  CHECK(verdict.cases[0].outcome == Outcome::fail);
  CHECK_FALSE(verdict.cases[0].latency);
  CHECK(verdict.cases[1].outcome == Outcome::pass);
  CHECK(verdict.cases[1].latency);
}

TEST_CASE("a judge that ends between timed outputs and their comparison costs nobody a verdict") {
  for (const std::string request : {"_set_aside", "_compare_aside"}) {
    SandboxConfig config = sharing_config("grade-ends" + request);
    const std::string ended = config.state_dir + "/grade-ends" + request;
    std::filesystem::remove(ended);
    // The judge ends in the second request of this type, once.
    std::ofstream(config.harness_dir + "/judging/judge.py", std::ios::app)
        << "\n_asked, _before = [], Judge." << request
        << "\ndef _end_once(self, frame):\n    _asked.append(1)\n    if len(_asked) == 2 and not "
           "os.path.exists('"
        << ended << "'):\n        open('" << ended
        << "', 'w').close()\n        os.abort()\n    return _before(self, frame)\nJudge." << request
        << " = _end_once\n";
    Result<std::unique_ptr<Device>> device =
        make_cuda_device(config, {.index = 0, .driver = "fake", .judge_device = "cpu"});
    REQUIRE(device);
    for (const int n : {0, 4'096}) {
      JobMonitor monitor;
      const Verdict verdict =
          (*device)->execute(n == 0 ? two_cases(kCopy) : two_cases(wrong_when_timed(n)), monitor);
      INFO(words_of(verdict));
      CHECK(std::filesystem::exists(ended));
      CHECK(verdict.outcome == (n == 0 ? Outcome::pass : Outcome::fail));
      CHECK(verdict.perf.has_value() == (n == 0));
      CHECK(verdict.cases.size() == 2);
      std::filesystem::remove(ended);  // the judge ends in the next job too
    }
  }
}

TEST_CASE("a grade that is cancelled before its timed outputs are compared leaves nothing behind") {
  SharedGpu gpu(sharing_config("grade-cancelled"));
  std::stop_source stop;
  Watch watch(gpu, [&] { stop.request_stop(); });
  watch.monitor.stop = stop.get_token();
  const Job job = two_cases(kCopy);
  const Verdict verdict = gpu.execute(job, watch.monitor);
  INFO(words_of(verdict));
  CHECK(verdict.error_kind == ErrorKind::cancelled);
  CHECK_FALSE(verdict.perf);
  for (const CaseRecord& one : verdict.cases) CHECK_FALSE(one.latency);
  CHECK_FALSE(gpu.context().measurements.graded.find(cache_key(job, 0)).baseline);
  CHECK(gpu.scheduler().lock(GpuScheduler::Mode::exclusive, Deadline::after_ms(0)));
  JobMonitor monitor;
  const Verdict next = gpu.execute(two_cases(kCopy), monitor);
  INFO(words_of(next));
  CHECK(next.perf);
}
