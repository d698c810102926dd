#include "sandbox/device/cuda.h"

#include <unistd.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "sandbox/device/provenance.h"
#include "sandbox/gpu/gpu_context.h"
#include "sandbox/gpu/gpu_job.h"
#include "sandbox/jail/gpu_nodes.h"
#include "sandbox/job/operator_revision.h"
#include "sandbox/job/verdict_builder.h"
#include "sandbox/profile/profiling.h"
#include "sandbox/profile/static_figures.h"
#include "sandbox/record/case_io.h"
#include "sandbox/record/record_cases.h"
#include "sandbox/timing/compiled_times.h"

namespace assay::sandbox {
namespace {

class CudaDevice final : public Device {
 public:
  CudaDevice(const SandboxConfig& config, const CudaOptions& options) : gpu_(config, options) {}

  DeviceInfo info() const override {
    const DeviceFacts facts = gpu_.launchers.device().value_or(DeviceFacts{});
    const std::string description = facts.name.empty()
                                        ? "starting"
                                        : facts.name + ", " + std::to_string(facts.sms) + " SMs, " +
                                              std::to_string(facts.memory_bytes >> 30) +
                                              " GiB, driver " + facts.driver;
    return {.name = gpu_.name,
            .description = description,
            .can_time = true,
            .best_tier = Tier::plan,
            .default_target = facts.target,
            .concurrency = gpu_.jobs,
            .hardware = {.name = facts.name,
                         .memory_bytes = facts.memory_bytes,
                         .driver = facts.driver,
                         .clock_khz = facts.clock_khz,
                         .bandwidth_bytes_per_s = facts.bandwidth_bytes_per_s}};
  }

  Status wait_until_ready(const Deadline& deadline) override {
    const Result<LauncherReady> ready = gpu_.launchers.ready(deadline);
    if (ready) return {};
    return fail(ready.error().code,
                gpu_.launchers.last_start_error().value_or(ready.error().message));
  }

  /// If workers record for this device, its candidates start only for the reference of a check, so
  /// their jail is not in use yet.
  Result<std::vector<LayerReport>> layers(const Deadline& deadline) override {
    ASSAY_TRY(ready, gpu_.launchers.ready(deadline));
    if (!gpu_.config.records) return std::move(ready.layers);
    ASSAY_TRY(of_candidates, gpu_.candidates().layers(deadline));
    return layers_of_both(std::move(of_candidates), ready.layers);
  }

  std::map<std::string, std::int64_t> processes() const override {
    const CandidatePool::Counts candidates = gpu_.lazy_candidates().counts();
    return {{"parked_candidates", candidates.parked},
            {"candidates", candidates.used},
            {"parked_launchers", gpu_.launchers.parked()}};
  }

  Verdict execute(const Job& job, JobMonitor& monitor) override {
    JobExecution run(job, monitor);
    if (!gpu_.config.records && monitor.recorder == nullptr) {
      run.fail(ErrorKind::internal_error,
               "the device records nothing, and the job has no recorder");
      return run.finish();
    }
    const std::optional<LauncherReady> ready = gpu_.wait_until_ready(run);
    if (!ready) {
      conclude(run.verdict(), {});
      return run.finish();
    }
    Provenance& provenance = run.verdict().provenance;
    provenance.device = gpu_.name;
    provenance.device_name = ready->device.name;
    provenance.driver = ready->device.driver;
    provenance.operator_revision = operator_revision(job.operator_dir);
    gpu_.retries.execute(
        run, {.shared = [&] { execute_by_kind(run, ready->device, nullptr); },
              .alone = [&] { execute_alone(run, ready->device); },
              .free_memory = [&] { gpu_.free_memory(run.deadline(GpuContext::kFreeMemoryMs)); }});
    add_pool_facts(provenance, gpu_.lazy_candidates().facts());
    add_compiled_times(run.verdict(), gpu_.config.state_dir);
    if (run.verdict().tier == Tier::host) add_pool_facts(provenance, gpu_.host.facts());
    add_missing_layers(provenance, ready->layers);
    std::vector<std::string> required;
    for (const CaseRequest& one : job.cases) required.push_back(one.id);
    run.conclude(required);
    return run.finish();
  }

 private:
  void execute_alone(JobExecution& run, const DeviceFacts& facts) {
    // Every job takes its place on a worker that records before the one place of a job with its own
    // judge. A job that ran with a shared judge before has its place already, so with the opposite
    // order here the two jobs could wait for each other forever.
    const Status placed = run.recorder() != nullptr ? run.recorder()->take_place(run) : Status();
    if (!placed) {
      run.fail_infrastructure(placed.error(), "waiting for a place on a worker that records");
      return;
    }
    run.enter(Stage::queue);
    const Result<JudgeGroup::Alone> alone =
        gpu_.judges_of(run.job()).judge_alone(run.deadline(kForeverMs));
    if (!alone)
      run.fail_infrastructure(alone.error(), "waiting for a judge");
    else
      execute_by_kind(run, facts, alone->judge.get());
  }

  /// If `alone` is not null, it is a judge that serves only this job.
  void execute_by_kind(JobExecution& run, const DeviceFacts& facts, Judge* alone) {
    const Job& job = run.job();
    std::optional<CaseDescriber> own;
    if (alone != nullptr) own.emplace(*alone);
    CaseDescriber& describer = own ? *own : gpu_.describer(job);
    if (job.reference && (!may_be_check(job.kind) || !job.targets.empty())) {
      run.fail(ErrorKind::unsupported, kNoSuchCheck);
    } else if (job.kind == JobKind::compile && !job.plans.empty()) {
      run.fail(ErrorKind::unsupported,
               "a stored launch plan is compiled already; test, profile and grade can replay it");
    } else if (job.kind == JobKind::compile) {
      compile_job(run, {gpu_.recorder(run), describer, facts.target});
      run.verdict().tier_reason = "nothing was run";
    } else if (job.kind == JobKind::profile && profile_target(job, facts.target) != facts.target &&
               !job.cases.empty()) {
      run.verdict().tier_reason = "nothing was run";
      profile_for_other_target(run, facts, profile_target(job, facts.target), describer);
    } else {
      GpuJob(gpu_, facts, run, alone).execute();
    }
  }

  /// Adds the profile of a job whose target is not this device's target. The profile is computed
  /// from the compiled kernels, because this device can run kernels only for its own target.
  void profile_for_other_target(JobExecution& run, const DeviceFacts& facts,
                                const std::string& target, CaseDescriber& describer) {
    const Job& job = run.job();
    Result<PreparedJob> prepared = describer.describe(job, run.deadline(job.limits.judge_wall_ms));
    if (!prepared) {
      run.fail_by_judge(prepared.error(), "describing cases");
      return;
    }
    std::optional<CandidateResults> recorded = gpu_.recorder(run).record(
        run, {*prepared, all_cases(*prepared), target, job.source, {.artifacts = true}});
    if (!recorded) return;
    ProfileSubject subject =
        subject_of(target, job.cases.front(), prepared->cases.front(), *recorded);
    add_static_figures(run.verdict(), std::move(*recorded), target, subject.cost_bytes,
                       job.want_artifacts);
    subject.kernels = run.verdict().kernels;
    add_profile(run, gpu_.recorder(run), subject);
    run.fail(ErrorKind::unsupported, Stage::run,
             "compiled for " + target + " and not run: this device is " + facts.target);
  }

  GpuContext gpu_;
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
