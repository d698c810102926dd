#include "sandbox/device/cuda.h"

#include <unistd.h>

#include <algorithm>
#include <map>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "sandbox/device/assemble.h"
#include "sandbox/device/hints.h"
#include "sandbox/device/judging.h"
#include "sandbox/device/launching.h"
#include "sandbox/device/provenance.h"
#include "sandbox/device/recording.h"
#include "sandbox/device/roofline.h"

namespace assay::sandbox {
namespace {

constexpr const char* kTierReason = "recorded without a GPU, performed by the launcher, compared by the judge";
constexpr std::int64_t kFirstLauncherMs = 60'000;

class CudaDevice final : public Device {
 public:
  CudaDevice(int index, const SandboxConfig& config)
      : name_("cuda:" + std::to_string(index)), launchers_(config, spawner_, index), pool_(config, spawner_), judge_(config, spawner_, name_) {}

  DeviceInfo info() const override {
    const LauncherDevice facts = launchers_.device().value_or(LauncherDevice{});
    return {.name = name_,
            .description = facts.name + ", " + std::to_string(facts.sms) + " multiprocessors, " + std::to_string(facts.memory_bytes >> 30) + " GiB, driver " + facts.driver,
            .can_time = true,
            .best_tier = Tier::plan,
            .default_target = facts.target,
            .concurrency = 1};
  }

  Verdict execute(const Job& job, JobMonitor& monitor) override {
    const std::lock_guard exclusive(one_job_);  // timing is exclusive; the job service sends one job at a time anyway
    JobRun run(job, monitor);
    const LauncherDevice facts = device_facts(run);
    Provenance& provenance = run.verdict().provenance;
    provenance.device = name_;
    provenance.device_name = facts.name;
    provenance.driver = facts.driver;
    provenance.operator_revision = operator_revision(job.operator_dir);
    std::vector<std::string> required;
    for (const CaseRequest& one : job.cases) required.push_back(one.id);
    if (run.failed()) {
      // No launcher came up: the verdict says why.
    } else if (job.kind == JobKind::compile) {
      compile_job(run, pool_, judge_, facts.target);
      run.verdict().tier_reason = "compiled only";
    } else {
      perform(run, facts.target);
    }
    add_pool_facts(provenance, pool_.facts());
    if (job.kind == JobKind::compile && !run.failed()) run.verdict().summary = summarise(run.verdict());
    else conclude(run.verdict(), required);
    return run.finish();
  }

 private:
  /// Of the GPU, once the first launcher has its context. An empty one after failing the run.
  LauncherDevice device_facts(JobRun& run) {
    if (const auto known = launchers_.device()) return *known;
    Result<std::unique_ptr<LauncherClient>> first = launchers_.take(run.deadline(kFirstLauncherMs));
    if (first) return (*first)->device();
    run.fail_ours(first.error(), name_ + " cannot be used");
    return {};
  }

  /// A job's stages on the GPU, in order.
  void perform(JobRun& run, const std::string& target) {
    const Job& job = run.job();
    run.enter(Stage::queue);
    Result<PreparedJob> prepared = judge_.prepare(job, false, run.deadline(job.limits.judge_wall_ms));
    if (!prepared) {
      run.fail_ours(prepared.error(), "preparing inputs");
      return;
    }
    add_seeds(run.verdict().provenance, prepared->cases);
    record_launch_judge(run, *prepared, target);
    judge_.release(job.id);
  }

  void record_launch_judge(JobRun& run, const PreparedJob& prepared, const std::string& target) {
    const Job& job = run.job();
    const bool timed = job.kind == JobKind::profile || job.kind == JobKind::grade;
    std::optional<CandidateResults> recorded = record(run, pool_, prepared, target, job.source, job.want_artifacts);
    if (!recorded) return;
    const std::optional<LaunchedCases> launched = launch_cases(run, launchers_, prepared, recorded->cases, timed);
    if (!launched) return;
    run.verdict().tier = Tier::plan;
    run.verdict().tier_reason = kTierReason;
    run.enter(Stage::judge);
    for (std::size_t i = 0; i < prepared.cases.size(); ++i) {
      const LaunchedCase& one = launched->cases[i];
      CaseRecord* judged = judge_case(run, judge_, job.cases[i], prepared.cases[i], one.result.outputs, one.output.get());
      if (judged == nullptr) return;
      if (!add_timing(run, *judged, one.result.timing, launched->device)) return;
    }
    report_kernels(run, std::move(*recorded), prepared, target);
    const bool all_right = std::all_of(run.verdict().cases.begin(), run.verdict().cases.end(), [](const CaseRecord& one) { return one.outcome == Outcome::pass; });
    if (timed && all_right) add_baselines(run, prepared, target);
    if (job.kind == JobKind::profile) add_diagnosis(run.verdict(), launched->device);
  }

  /// False: faster than physics allows, which ends the job.
  static bool add_timing(JobRun& run, CaseRecord& judged, const std::optional<Timing>& timing, const LauncherDevice& device) {
    const double floor = physics_floor_ns(device, judged.cost_bytes, judged.cost_flops);
    if (floor > 0) judged.floor_ns = floor;
    if (!timing) return true;
    judged.latency = timing;
    if (!beats_physics(device, judged.cost_bytes, floor, timing->median_ns)) return true;
    return run.fail(ErrorKind::floor_violation, "case '" + judged.id + "': " + std::to_string(timing->median_ns) + " ns is below the physics floor of " + std::to_string(floor) + " ns");
  }

  /// Figures of the largest case only: the others launch the same kernels.
  static void report_kernels(JobRun& run, CandidateResults recorded, const PreparedJob& prepared, const std::string& target) {
    const Job largest = largest_case_only(run.job());
    if (largest.cases.empty()) return;
    double cost = 0;
    for (const PreparedCase& one : prepared.cases) {
      if (one.id == largest.cases.front().id) cost = one.cost_bytes;
    }
    if (!run.job().want_artifacts) std::erase_if(recorded.cases, [&](const CaseDone& done) { return done.id != largest.cases.front().id; });
    add_static_figures(run.verdict(), std::move(recorded), target, cost, run.job().want_artifacts);
  }

  /// The oracle through the same path, and PyTorch. What fails here is a hint, not a verdict: the submission is right all the same.
  void add_baselines(JobRun& run, const PreparedJob& prepared, const std::string& target) {
    const Job& job = run.job();
    for (CaseRecord& one : run.verdict().cases) {
      Result<double> eager = judge_.time_reference(job.id, one.id, run.deadline(job.limits.judge_wall_ms));
      if (eager) one.pytorch_ns = *eager;
      else run.verdict().hints.push_back("PyTorch was not timed on case '" + one.id + "': " + eager.error().message);
    }
    if (job.baseline_source.empty()) return;
    JobRun beside = run.beside();
    const std::optional<CandidateResults> recorded = record_baseline(beside, prepared, target);
    const std::optional<LaunchedCases> launched = recorded ? launch_cases(beside, launchers_, prepared, recorded->cases, true) : std::nullopt;
    if (!launched) {
      const Verdict failed = beside.finish();
      run.verdict().hints.push_back("the oracle was not timed (" + std::string(to_string(failed.error_kind)) + "): " + failed.detail);
      return;
    }
    for (std::size_t i = 0; i < launched->cases.size(); ++i) run.verdict().cases[i].baseline_latency = launched->cases[i].result.timing;
  }

  /// The oracle is trusted and does not change, so its plans are kept: per operator revision, case and target. Structural inputs steer host code,
  /// so cases with any are recorded anew.
  std::optional<CandidateResults> record_baseline(JobRun& run, const PreparedJob& prepared, const std::string& target) {
    const bool structural = std::any_of(prepared.cases.begin(), prepared.cases.end(), [](const PreparedCase& one) { return !one.structural.empty(); });
    std::string key = run.verdict().provenance.operator_revision.empty() ? operator_revision(run.job().operator_dir) : run.verdict().provenance.operator_revision;
    key += "/" + target;
    for (const PreparedCase& one : prepared.cases) key += "/" + one.id;
    if (!structural) {
      if (const auto found = baseline_plans_.find(key); found != baseline_plans_.end()) return found->second;
    }
    std::optional<CandidateResults> recorded = record(run, pool_, prepared, target, run.job().baseline_source, false);
    if (recorded && !structural) {
      if (baseline_plans_.size() >= kMaxBaselines) baseline_plans_.clear();
      baseline_plans_[key] = *recorded;
    }
    return recorded;
  }

  static void add_diagnosis(Verdict& verdict, const LauncherDevice& device) {
    for (const CaseRecord& one : verdict.cases) {
      if (std::string text = diagnosis(device, one); !text.empty()) verdict.hints.insert(verdict.hints.begin(), "case '" + one.id + "' is " + text);
    }
  }

  static constexpr std::size_t kMaxBaselines = 256;  // plans kept; each holds its device binaries

  const std::string name_;
  std::mutex one_job_;
  std::map<std::string, CandidateResults> baseline_plans_;   // guarded by one_job_
  Spawner spawner_;
  LauncherNursery launchers_;
  Pool pool_;
  Judge judge_;
};

}  // namespace

Result<std::unique_ptr<Device>> make_cuda_device(int index, const SandboxConfig& config) {
  // Only what costs nothing is checked here, so that a server answers at once; the first job waits for the first launcher.
  const std::string node = "/dev/nvidia" + std::to_string(index);
  if (::access(node.c_str(), R_OK | W_OK) != 0) {
    return fail(ErrorCode::unavailable, "cuda:" + std::to_string(index) + " cannot be used: " + node + " is not there or not accessible; `assay doctor` lists the devices of this machine");
  }
  return std::make_unique<CudaDevice>(index, config);
}

}  // namespace assay::sandbox
