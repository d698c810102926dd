#include "sandbox/device/cpu.h"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "sandbox/device/interpreted_choice.h"
#include "sandbox/device/provenance.h"
#include "sandbox/device/public_compile.h"
#include "sandbox/gpu/suite_judges.h"
#include "sandbox/job/operator_revision.h"
#include "sandbox/job/processors.h"
#include "sandbox/job/target.h"
#include "sandbox/job/verdict_builder.h"
#include "sandbox/judging/judge_retries.h"
#include "sandbox/judging/judging.h"
#include "sandbox/judging/program_order.h"
#include "sandbox/pool/reference_process.h"
#include "sandbox/profile/profiling.h"
#include "sandbox/profile/static_figures.h"
#include "sandbox/record/case_describer.h"
#include "sandbox/record/record_cases.h"

namespace assay::sandbox {
namespace {

constexpr const char* kTierReason = "device cpu";
constexpr const char* kStoppedTier = "stopped by the error";
constexpr const char* kNoTier = "device cpu: nothing was run";
constexpr const char* kNeedsGpu =
    "a stored launch plan holds machine code of a GPU; device cuda:N can replay it";
constexpr int kMaxConcurrency = 8;
constexpr std::int64_t kRecordingCacheBytes = 64 << 20;  // enough for about a thousand plans

/// Returns true if the submission is Triton in Python. The interpreter cannot run other dialects or
/// languages.
bool can_interpret(const Job& job) { return job.dialect == "triton" && job.language == kPython; }

bool has_small_case(const Job& job) {
  return std::any_of(job.cases.begin(), job.cases.end(),
                     [](const CaseRequest& one) { return one.interpreter; });
}

/// Returns true if the error of this verdict occurred while the interpreter ran the submission.
/// Call this function only for a verdict without case records.
bool was_interpreted(const Verdict& verdict) {
  return verdict.stage == Stage::run && verdict.error_kind != ErrorKind::unsupported &&
         !is_inconclusive(verdict.error_kind);
}

void set_tier(Verdict& verdict, Tier tier, const char* reason) {
  verdict.tier = tier;
  verdict.tier_reason = reason;
}

/// Returns the configuration without a limit on the number of jobs that compile at the same time.
/// The CPU device needs no such limit, because it accepts only a limited number of jobs.
SandboxConfig without_recording_limit(SandboxConfig config) {
  config.recording_jobs = CandidatePool::kSlots;
  return config;
}

/// Runs one job. The device owns all processes and caches that the job uses.
class CpuJob {
 public:
  CpuJob(CandidatePool& pool, Judge& judge, CaseDescriber& describer, RecordingCache& recordings,
         const std::string& target)
      : target_(target),
        pool_(pool),
        judge_(judge),
        describer_(describer),
        recordings_(recordings),
        recorder_(pool, {recordings, recordings}) {}

  /// Returns the ids of the cases that a pass needs.
  std::vector<std::string> execute(JobExecution& run) {
    std::vector<std::string> required;
    switch (run.job().kind) {
      case JobKind::compile: compile_job(run, {recorder_, describer_, target_}); break;
      case JobKind::profile: profile(run, required); break;
      case JobKind::test:
      case JobKind::grade: test(run, required); break;
    }
    return required;
  }

 private:
  /// Functions that interpret() calls between its steps.
  struct Steps {
    std::function<void()> imported;  // called when the source is imported; no inputs exist yet
    /// Called when the public cases have been judged. Returns false if the job must end there.
    std::function<bool()> before_hidden;
  };

  /// Interprets the submission on the small cases and judges the outputs. Compiles all public cases
  /// at the same time. Adds static figures to the verdict: facts about the kernels that need no
  /// GPU, such as their occupancy.
  void test(JobExecution& run, std::vector<std::string>& required) {
    const Compilers compilers{pool_, describer_, recordings_, target_};
    if (!can_interpret(run.job()) || !has_small_case(run.job())) {
      if (can_interpret(run.job())) choose_cases(run.job(), run.verdict());  // says what is skipped
      Compiled compiled = PublicCompile(run, compilers).wait();
      if (!compiled.results)
        fail_as_compiled(run, std::move(compiled));
      else if (add_compiled(run, std::move(compiled), target_))
        needs_gpu(run, target_);
      return;
    }
    std::optional<PublicCompile> compiling;
    bool added = false;
    const Steps steps{.imported = [&] { compiling.emplace(run, compilers); },
                      .before_hidden =
                          [&] {
                            added = true;
                            return add_compiled(run, compiling->wait(), target_);
                          }};
    interpret(run, required, steps);
    if (compiling && !added) steps.before_hidden();
  }

  /// Compiles the job's case and adds its static figures to the verdict. A case that the
  /// interpreter can run is also run and judged.
  void profile(JobExecution& run, std::vector<std::string>& required) {
    const std::string target = profile_target(run.job(), target_);
    if (!can_interpret(run.job()) || !has_small_case(run.job())) {
      if (record_one(run, target)) needs_gpu(run, target);
    } else if (interpret(run, required, {[] {}, [] { return true; }})) {
      static_figures(run, target);
    }
  }

  /// Runs and judges the small cases in the interpreter. The import comes first, so that the judge
  /// creates no inputs if the import fails.
  bool interpret(JobExecution& run, std::vector<std::string>& required, const Steps& steps) {
    Job small = run.job();
    small.cases = choose_cases(run.job(), run.verdict());
    for (const CaseRequest& one : small.cases) required.push_back(one.id);
    CandidateJob request;
    request.entry = small.entry;
    request.adapter = small.adapter;
    request.dialect = small.dialect;
    request.target = target_;
    InterpretedCases full(run, pool_, request, small.source);
    if (!full.start()) return false;
    steps.imported();
    run.enter(Stage::queue);
    Result<PreparedJob> prepared = judge_.prepare(small, run.deadline(small.limits.judge_wall_ms));
    if (!prepared) return run.fail_by_judge(prepared.error(), "preparing inputs");
    add_seeds(run.verdict().provenance, prepared->cases);
    full.set_inputs(*prepared);
    const bool judged = interpret_and_judge(run, small, *prepared, {full, request, steps});
    judge_.release(small.id);
    return judged;
  }

  struct Interpretation {
    InterpretedCases& full;
    const CandidateJob& request;
    const Steps& steps;
  };

  /// Completes all work on the public cases first. The submission gets the hidden cases only if it
  /// is right on all public cases. So what a verdict says about the public cases cannot depend on
  /// the hidden cases.
  bool interpret_and_judge(JobExecution& run, const Job& small, const PreparedJob& prepared,
                           const Interpretation& started) {
    const auto& [full, request, steps] = started;
    CandidateJob ablated = request;
    ablated.mode = CandidateMode::ablate;
    JobExecution auxiliary = run.auxiliary();
    InterpretedCases without(auxiliary, pool_, ablated, small.source);
    without.set_inputs(prepared);
    std::vector<std::size_t> open, hidden;
    for (std::size_t i = 0; i < small.cases.size(); ++i)
      (small.cases[i].hidden ? hidden : open).push_back(i);
    const InterpretedRuns runs{full, without};
    if (!open.empty() && !judge_batch(run, small, prepared, runs, open, hidden.empty()))
      return false;
    if (!open.empty() && run.job().kind != JobKind::profile && all_right(run.verdict()) &&
        !check_order(run, pool_, judge_, {small, prepared, request}, order_case(small, open)))
      return false;
    if (!steps.before_hidden()) return false;
    if (hidden.empty() || !all_right(run.verdict())) return true;
    return judge_batch(run, small, prepared, runs, hidden, true);
  }

  /// Makes the submission run these cases, judges the outputs, and checks that the submission's own
  /// kernels computed the outputs.
  bool judge_batch(JobExecution& run, const Job& small, const PreparedJob& prepared,
                   const InterpretedRuns& runs, const std::vector<std::size_t>& cases, bool last) {
    if (!runs.full.perform(cases, last)) {
      if (!run.verdict().tells_hidden && was_interpreted(run.verdict()))
        set_tier(run.verdict(), Tier::interpreter, kStoppedTier);
      return false;
    }
    if (run.verdict().tier != Tier::interpreter)
      set_tier(run.verdict(), Tier::interpreter, kTierReason);
    run.enter(Stage::judge);
    for (const std::size_t i : cases) {
      if (!judge_case(run, judge_,
                      {small.cases[i], prepared.cases[i], runs.full.outputs(i), runs.full.file(i)}))
        return false;
    }
    return !all_right(run.verdict()) || attribute(run, judge_, runs, cases, last);
  }

  /// Adds the compiler's findings to a profile whose outputs were judged. Returns false if the
  /// verdict has become an error.
  bool static_figures(JobExecution& run, const std::string& target) {
    JobExecution auxiliary = run.auxiliary();
    bool described = false;
    if (!record_one(auxiliary, target, &described)) {
      Verdict failed = auxiliary.finish();
      if (all_right(run.verdict()) && described && !is_inconclusive(failed.error_kind)) {
        run.verdict().diagnostic = std::move(failed.diagnostic);
        return run.fail(failed.error_kind, failed.stage, failed.detail);
      }
      run.verdict().hints.push_back(
          {HintKind::not_recorded, run.job().cases.front().id,
           "could not be recorded for " + target + ", so no resource figures (" +
               std::string(to_string(failed.error_kind)) + "): " + failed.detail});
      return true;
    }
    const Verdict figures = auxiliary.finish();
    run.verdict().kernels = figures.kernels;
    run.verdict().artifacts = figures.artifacts;
    run.verdict().profile = figures.profile;
    run.verdict().hints.insert(run.verdict().hints.end(), figures.hints.begin(),
                               figures.hints.end());
    for (const auto& [stage, ms] : figures.stage_ms) run.verdict().stage_ms["record"] += ms;
    return true;
  }

  /// Records the case of a profile job. Adds the kernels' figures and the profile to the verdict.
  /// Sets `described` once the judge has described the case.
  bool record_one(JobExecution& run, const std::string& target, bool* described = nullptr) {
    const Job largest = largest_case_only(run.job());
    if (largest.cases.empty()) return run.fail(ErrorKind::unsupported, "the job has no case");
    const bool artifacts = run.job().want_artifacts;
    Result<PreparedJob> prepared =
        describer_.describe(largest, run.deadline(largest.limits.judge_wall_ms));
    if (!prepared) return run.fail_by_judge(prepared.error(), "describing cases");
    if (described != nullptr) *described = true;
    std::optional<CandidateResults> results = record_cases(
        run, pool_,
        {*prepared,
         all_cases(*prepared),
         target,
         largest.source,
         {.artifacts = artifacts || target.starts_with("hip:"), .language = largest.language}});
    if (!results) return false;
    std::optional<ProfileSubject> subject;
    if (!results->cases.empty())
      subject = subject_of(target, largest.cases.front(), prepared->cases.front(), *results);
    add_static_figures(run.verdict(), std::move(*results), target,
                       prepared->cases.front().cost_bytes, artifacts);
    if (!subject) return true;
    subject->kernels = run.verdict().kernels;
    add_profile(run, recorder_, *subject);
    return true;
  }

  /// Ends a job whose submission compiles but cannot run on the CPU. The verdict names the device
  /// that the job needs.
  static void needs_gpu(JobExecution& run, const std::string& target) {
    const Job& job = run.job();
    const std::string what =
        job.language != kPython   ? "CUDA C++ has no interpreter"
        : job.dialect != "triton" ? "dialect " + job.dialect + " cannot be interpreted"
        : !job.adapter.empty()    ? kReferenceNeedsGpu
                                  : "case '" + largest_case_only(job).cases.front().id +
                                     "' is too large for the CPU interpreter";
    const bool amd = target.starts_with("hip:");
    const std::string needs = job.language != kPython    ? amd ? "an AMD GPU (device hip:N)"
                                                               : "an NVIDIA GPU (device cuda:N)"
                              : target == kDefaultTarget ? "a Hopper GPU"
                                                         : "a GPU";
    run.fail(ErrorKind::unsupported, Stage::run,
             what + "; it compiles for " + target +
                 " (figures are in `kernels`), and running it needs " + needs);
  }

  const std::string& target_;
  CandidatePool& pool_;
  Judge& judge_;
  CaseDescriber& describer_;
  RecordingCache& recordings_;
  LocalRecorder recorder_;
};

class CpuDevice final : public Device {
 public:
  explicit CpuDevice(const SandboxConfig& config)
      : target_(config.compile_target),
        pool_(without_recording_limit(config), spawner_),
        judges_(config, spawner_, {.device = "cpu"}),
        recordings_(kRecordingCacheBytes) {}

  DeviceInfo info() const override {
    const int processors = usable_processors();
    return {.name = "cpu",
            .description =
                "Triton's interpreter on small cases, not on a GPU; compiles and records for " +
                target_names(),
            .can_time = false,
            .best_tier = Tier::interpreter,
            .default_target = target_,
            .concurrency = std::clamp(processors, 1, kMaxConcurrency)};
  }

  Result<std::vector<LayerReport>> layers(const Deadline& deadline) override {
    return pool_.layers(deadline);
  }

  std::map<std::string, std::int64_t> processes() const override {
    const CandidatePool::Counts candidates = pool_.counts();
    return {{"parked_candidates", candidates.parked}, {"candidates", candidates.used}};
  }

  Verdict execute(const Job& job, JobMonitor& monitor) override {
    JobExecution run(job, monitor);
    run.verdict().provenance.device = "cpu";
    run.verdict().provenance.device_name = "cpu";
    run.verdict().provenance.operator_revision = operator_revision(job.operator_dir);
    run.verdict().tier_reason = kNoTier;
    std::vector<std::string> required;
    if (!job.plans.empty()) {
      run.fail(ErrorKind::unsupported, kNeedsGpu);
      conclude(run.verdict(), required);
      return run.finish();
    }
    if (job.reference && !may_be_check(job.kind)) {
      run.fail(ErrorKind::unsupported, kNoSuchCheck);
    } else if (job.reference) {
      Judge judge(std::make_unique<ReferenceProcess>(pool_, job.limits, *job.reference));
      required = by_own_judge(run, judge);
    } else {
      JudgeGroup& judges = judges_.of(job.operator_dir);
      retries_.execute(run,
                       {.shared = [&] { required = by(run, judges.judge(0), judges.describer()); },
                        .alone = [&] { required = alone(run, judges); },
                        .free_memory = [] {}});
    }
    add_pool_facts(run.verdict().provenance, pool_.facts());
    run.conclude(required);
    return run.finish();
  }

 private:
  std::vector<std::string> by(JobExecution& run, Judge& judge, CaseDescriber& describer) {
    return CpuJob(pool_, judge, describer, recordings_, target_).execute(run);
  }

  std::vector<std::string> by_own_judge(JobExecution& run, Judge& judge) {
    CaseDescriber describer(judge);
    return by(run, judge, describer);
  }

  std::vector<std::string> alone(JobExecution& run, JudgeGroup& judges) {
    run.enter(Stage::queue);
    const Result<JudgeGroup::Alone> own = judges.judge_alone(run.deadline(kForeverMs));
    if (own) return by_own_judge(run, *own->judge);
    run.fail_infrastructure(own.error(), "waiting for a judge");
    return {};
  }

  const std::string target_;
  Spawner spawner_;
  CandidatePool pool_;
  SuiteJudges judges_;
  JudgeRetries retries_;
  RecordingCache recordings_;
};

}  // namespace

std::unique_ptr<Device> make_cpu_device(const SandboxConfig& config) {
  return std::make_unique<CpuDevice>(config);
}

}  // namespace assay::sandbox
