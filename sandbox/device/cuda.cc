#include "sandbox/device/cuda.h"

#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "sandbox/device/assemble.h"
#include "sandbox/device/attribution.h"
#include "sandbox/device/case_io.h"
#include "sandbox/device/counting.h"
#include "sandbox/device/gpu_lease.h"
#include "sandbox/device/host_tier.h"
#include "sandbox/device/judging.h"
#include "sandbox/device/launching.h"
#include "sandbox/device/measuring.h"
#include "sandbox/device/plan_conduct.h"
#include "sandbox/device/profiling.h"
#include "sandbox/device/provenance.h"
#include "sandbox/device/record_memo.h"
#include "sandbox/device/recording.h"
#include "sandbox/device/stored_plans.h"
#include "sandbox/jail/gpu_nodes.h"

namespace assay::sandbox {
namespace {

constexpr const char* kTierReason = "recorded without a GPU and performed by the trusted launcher";
constexpr const char* kReplayReason = "a plan that was recorded before, performed by the trusted launcher; no submission was run";
constexpr std::int64_t kMemoBytes = 64 << 20;  // about a thousand plans
constexpr std::int64_t kStartMs = 30'000;
constexpr std::int64_t kSettleMs = 30'000;
constexpr std::int64_t kPlaceBytes = 8LL << 30;  // of device memory for one job's inputs, references and outputs, as far as places go

bool is_timed(const Job& job) { return job.kind == JobKind::profile || job.kind == JobKind::grade; }

/// What CUDA opens for one GPU, as far as this machine has it.
GpuAccess gpu_access(const CudaOptions& options) {
  GpuAccess access{.index = options.index, .ordinal = 0, .devices = {}};
  if (options.driver != "cuda") return access;
  const std::string node = gpu_node(options.index).value_or("");
  access.ordinal = gpu_ordinal(node).value_or(0);
  for (const std::string& path : {std::string("/dev/nvidiactl"), std::string("/dev/nvidia-uvm"), node}) {
    if (::access(path.c_str(), F_OK) == 0) access.devices.push_back(path);
  }
  return access;
}

class CudaDevice final : public Device {
 public:
  CudaDevice(const SandboxConfig& config, const CudaOptions& options)
      : config_(config),
        options_(options),
        name_("cuda:" + std::to_string(options.index)),
        recorders_(config.recorders),
        sharers_(config.gpu_sharers),
        jobs_(std::max(config.gpu_jobs, config.gpu_sharers)),
        launchers_(config, spawner_, options.index, options.driver),
        pool_(config, spawner_),
        host_(config, spawner_, gpu_access(options)),
        host_allowed_(config.host_tier) {
    const bool lone = !options.judge_device.empty();  // of tests: one that does everything
    for (int i = 0; i < (lone ? 1 : std::max(config.judges, 1)); ++i)
      judges_.push_back(std::make_unique<Judge>(config, spawner_, lone ? options.judge_device : name_, i));
    if (!lone) shapes_.emplace(config, spawner_, "cpu");
  }

  DeviceInfo info() const override {
    const LauncherDevice facts = launchers_.device().value_or(LauncherDevice{});
    const std::string description = facts.name.empty() ? "starting"
                                                       : facts.name + ", " + std::to_string(facts.sms) + " SMs, " + std::to_string(facts.memory_bytes >> 30) +
                                                             " GiB, driver " + facts.driver;
    return {.name = name_, .description = description, .can_time = true, .best_tier = Tier::plan, .default_target = facts.target, .concurrency = jobs_};
  }

  Verdict execute(const Job& job, JobMonitor& monitor) override {
    JobRun run(job, monitor);
    if (!wait_for_device(run)) {
      conclude(run.verdict(), {});
      return run.finish();
    }
    Provenance& provenance = run.verdict().provenance;
    provenance.device = name_;
    provenance.device_name = facts_.name;
    provenance.driver = facts_.driver;
    provenance.operator_revision = operator_revision(job.operator_dir);
    if (job.kind == JobKind::compile && !job.plans.empty()) {
      run.fail(ErrorKind::unsupported, "a stored launch plan is compiled already; test, profile and grade can replay it");
    } else if (job.kind == JobKind::compile) {
      compile_job(run, pool_, shapes(), facts_.target);
      run.verdict().tier_reason = "nothing was run";
    } else if (job.kind == JobKind::profile && profile_target(job, facts_.target) != facts_.target && !job.cases.empty()) {
      run.verdict().tier_reason = "nothing was run";
      profile_elsewhere(run, profile_target(job, facts_.target));
    } else {
      on_gpu(run);
    }
    add_pool_facts(provenance, pool_.facts());
    if (run.verdict().tier == Tier::host) add_pool_facts(provenance, host_.facts());
    add_missing_layers(provenance, facts_.layers);
    std::vector<std::string> required;
    for (const CaseRequest& one : job.cases) required.push_back(one.id);
    if (job.kind == JobKind::compile && !run.failed())
      run.verdict().summary = summarise(run.verdict());
    else
      conclude(run.verdict(), required);
    return run.finish();
  }

 private:
  Judge& shapes() { return shapes_ ? *shapes_ : *judges_.front(); }
  /// All jobs of an operator have the same one: PyTorch takes its time for whatever it runs for the first time.
  Judge& judge_of(const Job& job) { return *judges_[std::hash<std::string>()(job.operator_name) % judges_.size()]; }

  /// The first job waits until the first launcher has its context; the server did not have to.
  bool wait_for_device(JobRun& run) {
    const std::lock_guard once(starting_);
    if (!facts_.name.empty()) return true;
    Result<LauncherDevice> facts = launchers_.ready(run.deadline(kStartMs));
    if (!facts) {
      const auto sickness = launchers_.sickness();
      return sickness ? run.fail(ErrorKind::device_unhealthy, name_ + ": " + *sickness) : run.fail_ours(facts.error(), "starting device " + name_);
    }
    facts_ = std::move(*facts);
    places_.emplace(static_cast<int>(std::clamp<std::int64_t>(facts_.memory_bytes / kPlaceBytes, 1, jobs_)));
    return true;
  }

  /// Gives back what `hold` has, and waits for the GPU: alone, or beside others.
  bool take_gpu(JobRun& run, std::optional<GpuLease::Hold>& hold, bool alone) {
    if (hold && hold->alone() == alone) return true;
    hold.reset();
    run.enter(Stage::queue);
    Result<GpuLease::Hold> taken = alone ? gpu_.alone(run.deadline(kForeverMs)) : gpu_.share(run.deadline(kForeverMs));
    if (!taken) return run.fail_ours(taken.error(), "waiting for the GPU");
    hold.emplace(std::move(*taken));
    if (!alone) return true;
    // Nobody else starts anything on the GPU from here on; what a judge began for them may still be at work.
    for (const auto& judge : judges_) {
      const Status settled = judge->settle(run.job().id, run.deadline(kSettleMs));
      if (!settled) return run.fail_ours(settled.error(), "waiting for the judge to be done with the GPU");
    }
    return true;
  }

  void on_gpu(JobRun& run) {
    if (run.job().cases.size() > kMaxCasesPerCandidate) {
      run.fail(ErrorKind::unsupported, "more than " + std::to_string(kMaxCasesPerCandidate) + " cases in one job");
      return;
    }
    // Of the GPU's memory, until the job is over.
    const Result<GpuLease::Hold> place = places_->share(run.deadline(kForeverMs));
    if (!place) {
      run.fail_ours(place.error(), "waiting for memory of the GPU");
      return;
    }
    // Shared while answers are only checked: another's kernels, or the judge's, would be in a time. And only while the GPU is at work for it: recording is not.
    std::optional<GpuLease::Hold> hold;
    if (!take_gpu(run, hold, false)) return;
    run.enter(Stage::judge);
    Result<PreparedJob> prepared = judge_of(run.job()).prepare(run.job(), false, run.deadline(run.job().limits.judge_wall_ms));
    if (!prepared) {
      run.fail_ours(prepared.error(), "preparing inputs");
      return;
    }
    hold.reset();
    add_seeds(run.verdict().provenance, prepared->cases);
    record_launch_judge(run, *prepared, hold);
    judge_of(run.job()).release(run.job().id);
  }

  /// The life of a submission on the plan tier, in order.
  void record_launch_judge(JobRun& run, const PreparedJob& prepared, std::optional<GpuLease::Hold>& hold) {
    const Job& job = run.job();
    std::optional<CandidateResults> recorded =
        job.plans.empty() ? submissions_.record(run, pool_, prepared, facts_.target, job.source, {job.want_artifacts, is_timed(job), recorders_, job.language})
                          : stored_plans(run, prepared);
    if (!recorded) {
      if (host_allowed_ && run.verdict().error_kind == ErrorKind::not_recordable) on_host_tier(run, prepared, hold);
      return;
    }
    std::vector<std::string> plans;
    for (const CaseDone& done : recorded->cases) plans.push_back(done.plan);

    Result<std::vector<UniqueFd>> outputs = make_output_files(prepared);
    if (!outputs) {
      run.fail_ours(outputs.error(), "making output files");
      return;
    }
    if (!take_gpu(run, hold, false)) return;
    std::optional<LaunchSession> session(std::in_place, run, launchers_);
    if (!launch_and_judge(run, *session, prepared, plans, *outputs)) {
      if (run.verdict().error_kind != ErrorKind::gpu_memory_limit || hold->alone()) return;
      // Perhaps it was the others' memory: once more, without them.
      run.take_back();
      run.verdict().cases.clear();
      if (!take_gpu(run, hold, true)) return;
      session.reset();
      launchers_.end_those_of_runs(run.deadline(kSettleMs));  // those that could not end in time have their memory still: then it is as before
      session.emplace(run, launchers_);
      if (!launch_and_judge(run, *session, prepared, plans, *outputs)) return;
    }
    run.verdict().tier = Tier::plan;
    run.verdict().tier_reason = job.plans.empty() ? kTierReason : kReplayReason;
    figures(run, prepared, std::move(*recorded));
    if (all_right(run.verdict()) && is_timed(job)) {
      hold.reset();
      std::vector<std::string> baseline = record_baseline(run, prepared);  // before the GPU is taken from the others
      if (take_gpu(run, hold, true))
        Measuring(run, {judge_of(run.job()), launchers_, facts_, known_}, prepared, *outputs, std::move(baseline)).measure(&*session, plans);
    }
    if (job.kind == JobKind::profile && !run.verdict().cases.empty()) {
      std::vector<KernelCounters> counters;
      std::map<std::string, std::string> missing;
      if (job.detail == ProfileDetail::counters && take_gpu(run, hold, true)) {
        if (auto counted = count_kernels(run, {config_, spawner_, options_.index, options_.driver}, prepared, plans.front(), (*outputs)[0].get()))
          counters = std::move(*counted);
        else
          missing["counters"] = counted.error().message;
      }
      hold.reset();  // what follows is for the processors
      describe(run, prepared, plans.front(), std::move(counters), std::move(missing));
    }
  }

  /// The profile of a job's case, which has been timed; `plan` empty: on the host tier.
  void describe(JobRun& run, const PreparedJob& prepared, const std::string& plan, std::vector<KernelCounters> counters = {},
                std::map<std::string, std::string> missing = {}) {
    run.enter(Stage::record);  // it is the processors' work: code is taken apart
    CandidateResults recorded;
    recorded.cases.emplace_back().plan = plan;
    ProfileSubject subject = subject_of(facts_.target, run.job().cases.front(), prepared.cases.front(), recorded);
    subject.kernels = run.verdict().kernels;
    subject.record = &run.verdict().cases.front();
    subject.peaks = peaks_of_device(facts_.target, facts_.sms, facts_.bandwidth_bytes_per_s);
    subject.peaks.device_name = facts_.name;
    subject.multiprocessors = facts_.sms;
    subject.counters = std::move(counters);
    subject.missing = std::move(missing);
    add_profile(run, pool_, subject);
  }

  /// A profile for a target that is not this device's: what the compiled kernels show.
  void profile_elsewhere(JobRun& run, const std::string& target) {
    const Job& job = run.job();
    Result<PreparedJob> prepared = shapes().prepare(job, true, run.deadline(job.limits.judge_wall_ms));
    if (!prepared) {
      run.fail_ours(prepared.error(), "preparing inputs");
      return;
    }
    shapes().release(job.id);
    std::optional<CandidateResults> recorded = record_cases(run, pool_, *prepared, all_cases(*prepared), target, job.source, {.artifacts = true});
    if (!recorded) return;
    ProfileSubject subject = subject_of(target, job.cases.front(), prepared->cases.front(), *recorded);
    add_static_figures(run.verdict(), std::move(*recorded), target, subject.cost_bytes, job.want_artifacts);
    subject.kernels = run.verdict().kernels;
    add_profile(run, pool_, subject);
    run.fail(ErrorKind::unsupported, Stage::run, "compiled for " + target + " and not run: this device is " + facts_.target);
  }

  /// What could not be recorded, with the GPU inside the jail.
  void on_host_tier(JobRun& run, const PreparedJob& prepared, std::optional<GpuLease::Hold>& hold) {
    const std::optional<Diagnostic>& refused = run.verdict().diagnostic;
    const std::string why = run.verdict().detail + (refused && refused->line ? ", line " + std::to_string(*refused->line) : "");
    run.take_back();
    run.verdict().tier = Tier::host;
    run.verdict().tier_reason = "it could not be recorded (" + why + "), so it had the GPU inside the jail; its times are wall clock of whole calls";
    // Before the GPU is taken from the others.
    std::vector<std::string> baseline = is_timed(run.job()) ? record_baseline(run, prepared) : std::vector<std::string>();
    if (!take_gpu(run, hold, true)) return;
    const bool judged = host_.run(run, judge_of(run.job()), prepared,
                                  is_timed(run.job()) ? cases_to_time(run.job(), prepared) : std::vector<bool>(prepared.cases.size(), false));
    // Whatever it did to the device is not in what parked launchers know.
    if (!judged) launchers_.distrust();
    if (!judged || !all_right(run.verdict()) || !is_timed(run.job())) return;
    Result<std::vector<UniqueFd>> outputs = make_output_files(prepared);
    if (!outputs) {
      run.fail_ours(outputs.error(), "making output files");
      return;
    }
    Measuring(run, {judge_of(run.job()), launchers_, facts_, known_}, prepared, *outputs, std::move(baseline)).measure(nullptr, {});
    if (run.job().kind == JobKind::profile) describe(run, prepared, "");
  }

  bool launch_and_judge(JobRun& run, LaunchSession& session, const PreparedJob& prepared, const std::vector<std::string>& plans,
                        const std::vector<UniqueFd>& outputs) {
    for (std::size_t i = 0; i < plans.size(); ++i) {
      const std::optional<Launched> launched = session.launch(prepared, i, plans[i], outputs[i].get());
      if (!launched) return false;
      run.enter(Stage::judge);
      CaseRecord* record =
          judge_case(run, judge_of(run.job()), run.job().cases[i], prepared.cases[i], launched->outputs, outputs[i].get(), has_doubtful_origin(*launched));
      if (record == nullptr) return false;
      if (!check_conduct(run, judge_of(run.job()), session, prepared, i, plans[i], *launched, outputs[i].get(), *record)) return false;
    }
    return true;
  }

  /// Kernels and hints of the case with the most traffic; plans of all as artifacts.
  void figures(JobRun& run, const PreparedJob& prepared, CandidateResults recorded) {
    std::size_t largest = 0;
    for (std::size_t i = 1; i < prepared.cases.size(); ++i) {
      if (prepared.cases[i].cost_bytes > prepared.cases[largest].cost_bytes) largest = i;
    }
    for (std::size_t i = 0; i < recorded.cases.size(); ++i) {
      // A plan carries the shapes of its case: those of hidden ones stay here.
      if (run.job().cases[i].hidden) recorded.cases[i].plan.clear();
      if (i != largest) recorded.cases[i].kernels.clear();
    }
    add_static_figures(run.verdict(), std::move(recorded), facts_.target, prepared.cases[largest].cost_bytes, run.job().want_artifacts);
  }

  /// The oracle's plans; empty when there is no baseline or it could not be recorded.
  std::vector<std::string> record_baseline(JobRun& run, const PreparedJob& prepared) {
    const Job& job = run.job();
    if (job.baseline_source.empty()) return {};
    run.enter(Stage::record);
    JobRun beside = run.beside();
    std::optional<CandidateResults> recorded =
        oracles_.record(beside, pool_, prepared, facts_.target, job.baseline_source, {.alternatives = true, .candidates = recorders_});
    if (!recorded) {
      run.verdict().hints.push_back("the oracle could not be recorded: " + beside.finish().detail);
      return {};
    }
    std::vector<std::string> plans;
    for (CaseDone& done : recorded->cases) plans.push_back(std::move(done.plan));
    return plans;
  }

  const SandboxConfig config_;
  const CudaOptions options_;
  const std::string name_;
  const int recorders_, sharers_, jobs_;
  std::mutex starting_;
  LauncherDevice facts_;  // written once, under starting_, before any job goes on
  Spawner spawner_;
  LauncherNursery launchers_;
  Pool pool_;
  HostTier host_;
  const bool host_allowed_;
  std::vector<std::unique_ptr<Judge>> judges_;
  std::optional<Judge> shapes_;  // without a GPU: what only compiles waits for nobody's inputs, and makes none beside one who is timed
  KnownOfGpu known_;
  RecordMemo submissions_{kMemoBytes}, oracles_{kMemoBytes};  // apart, so that no submission pushes an oracle out
  GpuLease gpu_{sharers_};
  std::optional<GpuLease> places_;  // of jobs whose inputs are in the GPU's memory; made with facts_
};

}  // namespace

Result<std::unique_ptr<Device>> make_cuda_device(const SandboxConfig& config, const CudaOptions& options) {
  if (options.driver == "cuda") {
    const Result<std::string> node = gpu_node(options.index);
    const std::string problem = !node ? node.error().message : ::access(node->c_str(), R_OK | W_OK) != 0 ? *node + " is not accessible" : "";
    if (!problem.empty()) {
      return fail(ErrorCode::unavailable,
                  "device cuda:" + std::to_string(options.index) + " cannot be used: " + problem + "; `assay doctor` lists this machine's devices");
    }
  }
  return std::unique_ptr<Device>(std::make_unique<CudaDevice>(config, options));
}

}  // namespace assay::sandbox
