#include "sandbox/device/cuda.h"

#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "sandbox/device/provenance.h"
#include "sandbox/gpu/gpu_job.h"
#include "sandbox/gpu/gpu_reservation.h"
#include "sandbox/gpu/judge_assignment.h"
#include "sandbox/jail/gpu_nodes.h"
#include "sandbox/job/verdict_builder.h"
#include "sandbox/profile/profiling.h"
#include "sandbox/profile/recording.h"
#include "sandbox/record/case_io.h"
#include "sandbox/record/record_cases.h"

namespace assay::sandbox {
namespace {

constexpr std::int64_t kMemoBytes = 64 << 20;  // about a thousand plans
constexpr std::int64_t kStartMs = 30'000;
constexpr std::int64_t kPlaceBytes = 10LL
                                     << 30;  // of device memory for one job, as far as places go:
                                             // inputs, references, outputs, its part of contexts

/// Nearly all that a candidate without a GPU does is compilation; who has the GPU is not to wait
/// for processors.
SandboxConfig yielding(SandboxConfig config) {
  config.candidates_yield = true;
  return config;
}

/// What CUDA opens for one GPU, as far as this machine has it.
GpuAccess gpu_access(const CudaOptions& options) {
  GpuAccess access{.index = options.index, .ordinal = 0, .devices = {}};
  if (options.driver != "cuda") return access;
  const std::string node = gpu_node(options.index).value_or("");
  access.ordinal = gpu_ordinal(node).value_or(0);
  for (const std::string& path :
       {std::string("/dev/nvidiactl"), std::string("/dev/nvidia-uvm"), node}) {
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
        jobs_(std::max(config.gpu_jobs, config.gpu_sharers)),
        launchers_(config, spawner_, options.index, options.driver),
        pool_(yielding(config), spawner_),
        host_(config, spawner_, gpu_access(options)),
        lease_(config.gpu_sharers) {
    const bool lone = !options.judge_device.empty();  // of tests: one that does everything
    for (int i = 0; i < (lone ? 1 : std::max(config.judges, 1)); ++i)
      judges_.push_back(
          std::make_unique<Judge>(config, spawner_, lone ? options.judge_device : name_, i));
    judge_choice_.emplace(judges_.size());
    if (!lone) shapes_.emplace(config, spawner_, "cpu");
  }

  DeviceInfo info() const override {
    const LauncherDevice facts = launchers_.device().value_or(LauncherDevice{});
    const std::string description = facts.name.empty()
                                        ? "starting"
                                        : facts.name + ", " + std::to_string(facts.sms) + " SMs, " +
                                              std::to_string(facts.memory_bytes >> 30) +
                                              " GiB, driver " + facts.driver;
    return {.name = name_,
            .description = description,
            .can_time = true,
            .best_tier = Tier::plan,
            .default_target = facts.target,
            .concurrency = jobs_};
  }

  Verdict execute(const Job& job, JobMonitor& monitor) override {
    JobExecution run(job, monitor);
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
      run.fail(ErrorKind::unsupported,
               "a stored launch plan is compiled already; test, profile and grade can replay it");
    } else if (job.kind == JobKind::compile) {
      compile_job(run, pool_, shapes(), facts_.target);
      run.verdict().tier_reason = "nothing was run";
    } else if (job.kind == JobKind::profile &&
               profile_target(job, facts_.target) != facts_.target && !job.cases.empty()) {
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

  /// The first job waits until the first launcher has its context; the server did not have to.
  bool wait_for_device(JobExecution& run) {
    const std::lock_guard once(starting_);
    if (!facts_.name.empty()) return true;
    Result<LauncherDevice> facts = launchers_.ready(run.deadline(kStartMs));
    if (!facts) {
      const auto last_start_error = launchers_.last_start_error();
      return last_start_error
                 ? run.fail(ErrorKind::device_unhealthy, name_ + ": " + *last_start_error)
                 : run.fail_infrastructure(facts.error(), "starting device " + name_);
    }
    facts_ = std::move(*facts);
    places_.emplace(static_cast<int>(
        std::clamp<std::int64_t>(facts_.memory_bytes / kPlaceBytes, config_.gpu_sharers, jobs_)));
    return true;
  }

  void on_gpu(JobExecution& run) {
    if (run.job().cases.size() > kMaxCasesPerCandidate) {
      run.fail(ErrorKind::unsupported,
               "more than " + std::to_string(kMaxCasesPerCandidate) + " cases in one job");
      return;
    }
    // Of the GPU's memory, until the job is over.
    const Result<GpuLock::Hold> place = places_->share(run.deadline(kForeverMs));
    if (!place) {
      run.fail_infrastructure(place.error(), "waiting for memory of the GPU");
      return;
    }
    // Shared while answers are only checked: another's kernels, or the judge's, would be in a time.
    // And only while the GPU is at work for it: recording is not.
    GpuReservation turn(run, lease_, judges_);
    if (!turn.share()) return;
    run.enter(Stage::judge);
    const JudgeAssignment::Hold chosen = judge_choice_->take(run.job().operator_name);
    Judge& judge = *judges_[chosen.index()];
    Result<PreparedJob> prepared =
        judge.prepare(run.job(), false, run.deadline(run.job().limits.judge_wall_ms));
    if (!prepared) {
      run.fail_infrastructure(prepared.error(), "preparing inputs");
      return;
    }
    turn.release();
    add_seeds(run.verdict().provenance, prepared->cases);
    GpuJob(services_, run, judge, turn, *prepared).execute();
    turn.release();  // before the judge has time for us
    judge.release(run.job().id);
  }

  /// A profile for a target that is not this device's: what the compiled kernels show.
  void profile_elsewhere(JobExecution& run, const std::string& target) {
    const Job& job = run.job();
    Result<PreparedJob> prepared =
        shapes().prepare(job, true, run.deadline(job.limits.judge_wall_ms));
    if (!prepared) {
      run.fail_infrastructure(prepared.error(), "preparing inputs");
      return;
    }
    shapes().release(job.id);
    std::optional<CandidateResults> recorded = record_cases(
        run, pool_, *prepared, all_cases(*prepared), target, job.source, {.artifacts = true});
    if (!recorded) return;
    ProfileSubject subject =
        subject_of(target, job.cases.front(), prepared->cases.front(), *recorded);
    add_static_figures(run.verdict(), std::move(*recorded), target, subject.cost_bytes,
                       job.want_artifacts);
    subject.kernels = run.verdict().kernels;
    add_profile(run, pool_, subject);
    run.fail(ErrorKind::unsupported, Stage::run,
             "compiled for " + target + " and not run: this device is " + facts_.target);
  }

  const SandboxConfig config_;
  const CudaOptions options_;
  const std::string name_;
  const int jobs_;
  std::mutex starting_;
  LauncherDevice facts_;  // written once, under starting_, before any job goes on
  Spawner spawner_;
  LauncherPool launchers_;
  CandidatePool pool_;
  HostTier host_;
  std::vector<std::unique_ptr<Judge>> judges_;
  std::optional<JudgeAssignment> judge_choice_;
  std::optional<Judge> shapes_;  // without a GPU: what only compiles waits for nobody's inputs, and
                                 // makes none beside one who is timed
  MeasurementCache known_;
  RecordingCache submissions_{kMemoBytes}, oracles_{kMemoBytes};
  GpuLock lease_;
  std::optional<GpuLock> places_;  // of jobs whose inputs are in the GPU's memory; made with facts_
  const GpuServices services_{config_, options_, facts_,       spawner_, launchers_,
                              pool_,   host_,    submissions_, oracles_, known_};
};

}  // namespace

Result<std::unique_ptr<Device>> make_cuda_device(const SandboxConfig& config,
                                                 const CudaOptions& options) {
  if (options.driver == "cuda") {
    const Result<std::string> node = gpu_node(options.index);
    const std::string problem = !node ? node.error().message
                                : ::access(node->c_str(), R_OK | W_OK) != 0
                                    ? *node + " is not accessible"
                                    : "";
    if (!problem.empty()) {
      return fail(ErrorCode::unavailable, "device cuda:" + std::to_string(options.index) +
                                              " cannot be used: " + problem +
                                              "; `assay doctor` lists this machine's devices");
    }
  }
  return std::unique_ptr<Device>(std::make_unique<CudaDevice>(config, options));
}

}  // namespace assay::sandbox
