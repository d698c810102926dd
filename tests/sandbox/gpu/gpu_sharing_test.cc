// Tests several jobs on one GPU. Jobs that only check outputs share the GPU; a job that is timed
// has the GPU alone. The tests watch the queues of the GPU's scheduler, to run their threads in a
// fixed order.
#include <atomic>
#include <future>
#include <string>
#include <utility>
#include <vector>

#include "base/mutex.h"
#include "tests/catch.h"
#include "tests/sandbox/gpu/shared_gpu.h"

using namespace assay;
using namespace assay::sandbox;
using namespace assay::sandbox::testing;

namespace {

/// A point in the code at which threads wait for each other.
class Meeting {
 public:
  explicit Meeting(int expected) : expected_(expected) {}
  /// Waits for the other threads. Returns false if they do not arrive in time.
  bool arrive() {
    MutexLock lock(mutex_);
    ++arrived_;
    changed_.notify_all();
    const Deadline deadline = for_another_thread();
    return deadline.wait(changed_, lock,
                         [&]() ASSAY_REQUIRES(mutex_) { return arrived_ >= expected_; });
  }

 private:
  const int expected_;
  Mutex mutex_;
  Condition changed_;
  int arrived_ ASSAY_GUARDED_BY(mutex_) = 0;
};

SandboxConfig with_sharers(SandboxConfig config, int sharers) {
  config.gpu_sharers = sharers;
  return config;
}

Job one_case(JobKind kind) {
  Job job = copy_job(kind, kCopy);
  job.cases.resize(1);
  return job;
}

}  // namespace

TEST_CASE("jobs whose answers are only checked have one GPU at the same time") {
  SharedGpu gpu(with_sharers(real_config(), 2));
  Meeting meeting(2);
  std::vector<std::future<std::pair<bool, Verdict>>> jobs;
  for (int i = 0; i < 2; ++i) {
    jobs.push_back(std::async(std::launch::async, [&] {
      bool met = false, launched = false;
      JobMonitor monitor;
      // At this point the job has launched its plan and still holds the GPU. If it held the GPU
      // exclusively, the two jobs would not meet here.
      monitor.stage_changed = [&](Stage stage) {
        launched = launched || stage == Stage::launch;
        if (stage == Stage::judge && launched && !met) met = meeting.arrive();
      };
      Verdict verdict = gpu.execute(copy_job(JobKind::test, kCopy), monitor);
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

TEST_CASE("a job that waits for a judge leaves the cores and the GPU to other jobs") {
  SandboxConfig config = with_sharers(real_config(), 1);
  config.gpu_jobs = 2;
  config.recording_jobs = 1;
  SharedGpu gpu(config);
  std::vector<std::future<Verdict>> jobs;
  {
    const Result<JudgeQueue::Turn> busy =
        gpu.judge_queue().wait_for_judge({"another operator", ""}, for_another_thread());
    REQUIRE(busy);
    for (std::size_t i = 1; i <= 2; ++i) {
      jobs.push_back(std::async(std::launch::async, [&] {
        JobMonitor monitor;
        return gpu.execute(copy_job(JobKind::test, kCopy), monitor);
      }));
      // Each job needs the only recording slot before it waits for a judge. So the second job can
      // wait for a judge only if the first job has freed the slot.
      CHECK(gpu.judge_queue().wait_for_waiters(i, for_another_thread()));
    }
    CHECK(gpu.scheduler().lock(GpuScheduler::Mode::exclusive, for_another_thread()));
  }
  for (std::future<Verdict>& job : jobs) {
    const Verdict verdict = job.get();
    INFO(verdict.summary << " " << verdict.detail);
    CHECK(verdict.outcome == Outcome::pass);
  }
}

TEST_CASE("a submission that cannot be imported ends although no judge can make inputs") {
  // The arguments of this operator have values that the host reads, so its cases cannot be
  // described without inputs.
  Job job = one_case(JobKind::test);
  job.operator_name = job.entry = "varlen_attn";
  job.operator_dir = std::string(ASSAY_SOURCE_DIR) + "/operators/standard/varlen_attn";
  job.cases.front().dtype = "float16";
  job.cases.front().axes = {
      {"total", 150}, {"offset_count", 7}, {"max_seqlen", 80}, {"heads", 2}, {"head_dim", 64}};
  SharedGpu gpu(with_sharers(real_config(), 1));
  const Result<JudgeQueue::Turn> busy =
      gpu.judge_queue().wait_for_judge({"another operator", ""}, for_another_thread());
  REQUIRE(busy);
  for (const auto& [source, kind] :
       {std::pair("def varlen_attn(:\n", ErrorKind::syntax_error),
        std::pair("import no_such_module_of_python\n", ErrorKind::module_not_found)}) {
    job.source = source;
    JobMonitor monitor;
    const Verdict verdict = gpu.execute(job, monitor);
    INFO(verdict.summary << " " << verdict.detail);
    CHECK(verdict.error_kind == kind);
    REQUIRE(verdict.diagnostic);
    CHECK(verdict.diagnostic->line == 1);
  }
}

TEST_CASE("a GPU has no more jobs than there can be candidates for") {
  SandboxConfig config = real_config();
  config.gpu_jobs = 64;
  config.recorders = 8;
  // A check has one candidate more, which executes its reference.
  CHECK(SharedGpu(config).jobs() * (config.recorders + 1) + config.parked_candidates <=
        CandidatePool::kSlots);
  config.recorders = 1;
  config.gpu_jobs = 48;
  CHECK(SharedGpu(config).jobs() == 48);
}

TEST_CASE("while one job is timed, no other job is on the GPU") {
  SharedGpu gpu(with_sharers(real_config(), 2));
  std::atomic<bool> other_launched{false};
  bool seen_together = false, other_waited = true;
  std::future<Verdict> other;
  const auto run_other = [&] {
    JobMonitor monitor;
    monitor.stage_changed = [&](Stage stage) {
      other_launched = other_launched || stage == Stage::launch;
    };
    return gpu.execute(copy_job(JobKind::test, kCopy), monitor);
  };
  JobMonitor monitor;
  bool launched = false, judged = false;
  monitor.stage_changed = [&](Stage stage) {
    // All cases have already been judged, so this launch belongs to a timed block.
    if (judged && stage == Stage::launch) {
      if (!other.valid()) {
        other = std::async(std::launch::async, run_other);
        other_waited =
            gpu.scheduler().wait_for_waiters(GpuScheduler::Mode::prepare, 1, for_another_thread());
      }
      other_waited = other_waited && gpu.scheduler().waiting(GpuScheduler::Mode::prepare) == 1;
      seen_together = seen_together || other_launched;
    }
    launched = launched || stage == Stage::launch;
    judged = judged || (launched && stage == Stage::judge);
  };
  const Verdict timed = gpu.execute(one_case(JobKind::profile), monitor);
  INFO(timed.summary << " " << timed.detail);
  CHECK(timed.outcome == Outcome::pass);
  REQUIRE(other.valid());
  CHECK(other.get().outcome == Outcome::pass);
  CHECK(other_launched);
  CHECK(other_waited);
  CHECK_FALSE(seen_together);
}

TEST_CASE("a GPU that others have filled is not the submission's fault") {
  SharedGpu gpu(with_sharers(filled("always_filled"), 2));
  JobMonitor monitor;
  int launches = 0;
  monitor.stage_changed = [&](Stage stage) { launches += stage == Stage::launch ? 1 : 0; };
  Job job = one_case(JobKind::test);
  job.cases[0].axes["n"] = 1 << 20;
  const Verdict verdict = gpu.execute(job, monitor);
  INFO(verdict.summary << " " << verdict.detail);
  CHECK(verdict.error_kind == ErrorKind::internal_error);
  CHECK(launches == 2);  // once with others, and once alone
}

TEST_CASE("a job that runs out of memory while it shares the GPU runs once more, alone") {
  SharedGpu gpu(with_sharers(filled_at_second_launcher("filled"), 2));
  Meeting first_launched(2), both_launched(2);
  std::atomic<bool> other_done{false};
  bool other_waited = false;
  // This job has the first launcher, whose memory is not full. The job keeps sharing the GPU until
  // the second job waits for exclusive use of the GPU.
  std::future<Verdict> other = std::async(std::launch::async, [&] {
    JobMonitor monitor;
    bool launched = false, met = false;
    monitor.stage_changed = [&](Stage stage) {
      if (stage == Stage::launch && !launched) launched = first_launched.arrive();
      if (stage != Stage::judge || !launched || met) return;
      met = both_launched.arrive();
      other_waited =
          gpu.scheduler().wait_for_waiters(GpuScheduler::Mode::exclusive, 1, for_another_thread());
      other_done = true;
    };
    return gpu.execute(one_case(JobKind::test), monitor);
  });
  REQUIRE(first_launched.arrive());
  int launches = 0;
  bool seen_together = false;
  JobMonitor monitor;
  monitor.stage_changed = [&](Stage stage) {
    if (stage != Stage::launch) return;
    if (++launches == 1)
      CHECK(both_launched.arrive());
    else
      seen_together = seen_together || !other_done;
  };
  Job job = one_case(JobKind::test);
  job.cases[0].axes["n"] = 1 << 20;
  const Verdict verdict = gpu.execute(job, monitor);
  INFO(verdict.summary << " " << verdict.detail);
  CHECK(verdict.outcome == Outcome::pass);
  CHECK(verdict.cases.size() == 1);
  CHECK(launches >= 2);
  CHECK_FALSE(seen_together);
  CHECK(other.get().outcome == Outcome::pass);
  CHECK(other_waited);
}
