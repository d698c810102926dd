#include "sandbox/gpu/gpu_job.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>

#include "sandbox/gpu/early_check.h"
#include "sandbox/gpu/own_reference_times.h"
#include "sandbox/job/verdict_builder.h"
#include "sandbox/judging/judging.h"
#include "sandbox/launch/counters.h"
#include "sandbox/profile/profiling.h"
#include "sandbox/profile/static_figures.h"
#include "sandbox/record/case_io.h"
#include "sandbox/record/record_cases.h"
#include "sandbox/sanitize/sanitizing.h"

namespace assay::sandbox {
namespace {

constexpr const char* kTierReason = "recorded without a GPU and performed by the trusted launcher";
constexpr const char* kReplayReason =
    "a plan that was recorded before, performed by the trusted launcher; no submission was run";

bool is_layout(const PreparedJob& prepared) {
  return std::any_of(prepared.cases.begin(), prepared.cases.end(),
                     [](const PreparedCase& one) { return one.is_layout; });
}

}  // namespace

void GpuJob::execute() {
  if (run_.job().cases.size() > kMaxCasesPerCandidate) {
    run_.fail(ErrorKind::unsupported,
              "more than " + std::to_string(kMaxCasesPerCandidate) + " cases in one job");
    return;
  }
  const bool watched = wants_sanitizer(run_.job(), gpu_.config);
  const std::string problem = sanitizer_problem(gpu_.config, gpu_.options.driver);
  if (watched && !problem.empty()) {
    run_.fail(ErrorKind::unsupported, problem);
    return;
  }
  perform(watched);
  session_.reset();
  unlock();  // before release(), which waits if the judge is busy
  if (judge_ != nullptr) judge_->release(run_.job().id, std::move(memory_));
}

void GpuJob::perform(bool watched) {
  if (!describe()) return;
  // Recording needs CPU cores, not the GPU. The inputs are made before the recording only if the
  // cases depend on values, or if a stored plan replaces the recording.
  if (!run_.job().plans.empty()) {
    if (!prepare()) return;
    unlock();
  } else if (prepared_.cases.empty()) {
    const CaseDescriber::Keys keys = CaseDescriber::keys_of(run_.job());
    if (!passes_early_check(gpu_, facts_.target, run_) || !prepare()) return;
    describer().learn(keys, run_.job(), prepared_);
    unlock();  // recording may take seconds
  }
  // If the public cases can be recorded, the tier is `plan`. If they cannot, the tier may be
  // `host`.
  const Verdict& verdict = run_.verdict();
  if (std::optional<CandidateResults> recorded = record()) {
    on_plan_tier(std::move(*recorded));
    return;
  }
  if (!gpu_.config.host_tier || watched || run_.job().reference || sent_hidden_ ||
      verdict.error_kind != ErrorKind::not_recordable)
    return;
  if (is_layout(prepared_))
    run_.verdict().detail +=
        "; an operator of family layout has no host tier, because nothing would show there that "
        "copies by torch do not do the work";
  else if (gpu_.config.records)
    on_host_tier();
  else
    run_.verdict().detail +=
        "; workers with roles have no host tier, which would run the submission: use a device "
        "without roles, or keep the computation in kernels and read no tensor values on the host";
}

bool GpuJob::describe() {
  run_.enter(Stage::judge);
  Result<std::optional<PreparedJob>> found = describer().describe_without_inputs(
      run_.job(), run_.deadline(run_.job().limits.judge_wall_ms));
  if (!found) return run_.fail_by_judge(found.error(), "describing cases");
  if (*found) prepared_ = std::move(**found);
  return true;
}

bool GpuJob::open_session() {
  if (session_) return true;
  if (!make_outputs()) return false;
  session_.emplace(run_, gpu_.launchers);
  return session_->ready();
}

bool GpuJob::judge_public(const std::vector<CaseDone>& open) {
  Plans plans;
  for (const CaseDone& done : open) plans.push_back(done.plan);
  if (!prepare() || !compute_references(0, plans.size()) || !open_session() ||
      !lock(Mode::shared) || !launch_and_judge(0, plans))
    return false;
  unlock();
  judged_ = plans.size();
  run_.verdict().tier = Tier::plan;
  run_.verdict().tier_reason = kTierReason;
  if (all_right(run_.verdict())) return true;
  CandidateResults recorded;
  recorded.cases = open;
  add_figures(std::move(recorded));
  return false;
}

void GpuJob::on_plan_tier(CandidateResults recorded) {
  const Job& job = run_.job();
  Plans plans;
  for (const CaseDone& done : recorded.cases) plans.push_back(done.plan);
  const Plans rest(plans.begin() + static_cast<std::ptrdiff_t>(judged_), plans.end());
  if (!prepare() || !compute_references(judged_, plans.size())) return;
  if (!open_session() || !lock(Mode::shared)) return;
  run_.verdict().tier = Tier::plan;
  run_.verdict().tier_reason = job.plans.empty() ? kTierReason : kReplayReason;
  const bool watched = wants_sanitizer(job, gpu_.config);
  // In a profile, the sanitizer runs before the judge, because a profile has to explain why a plan
  // fails. In a grade, the sanitizer runs only if the outputs are right.
  const bool first = watched && job.kind == JobKind::profile;
  if (first && !sanitize(plans)) {
    add_figures(std::move(recorded));
    return;
  }
  if (!launch_and_judge(judged_, rest)) return;
  add_figures(std::move(recorded));
  if (watched && !first && all_right(run_.verdict()) && !sanitize(plans)) return;
  if (all_right(run_.verdict()) && is_timed()) {
    if (!draw_ahead()) return;
    unlock();
    Plans reference = record_reference();
    if (lock_idle_gpu()) measure(&*session_, plans, std::move(reference));
  }
  if (job.kind == JobKind::profile && !run_.verdict().cases.empty()) profile(plans);
}

/// Runs a submission that could not be recorded, with access to the GPU inside its jail.
void GpuJob::on_host_tier() {
  const std::optional<Diagnostic>& refused = run_.verdict().diagnostic;
  const std::string why =
      run_.verdict().detail +
      (refused && refused->line ? ", line " + std::to_string(*refused->line) : "");
  run_.clear_error();
  run_.verdict().tier = Tier::host;
  run_.verdict().tier_reason =
      "the submission could not be recorded (" + why +
      "), so it ran with the GPU inside the jail; its times are wall time of whole calls";
  if (!prepare()) return;
  const bool timed = is_timed();
  Plans reference = timed ? record_reference() : Plans();
  if (!(timed ? lock_idle_gpu() : lock(Mode::host))) return;
  // The rounds have memory of their own. Only the reference of a timed job is launched.
  if (!timed) prepared_.close_device_memory();
  const bool judged = gpu_.host.run(
      run_, *judge_, prepared_,
      timed ? cases_to_time(prepared_) : std::vector<bool>(prepared_.cases.size(), false));
  // The submission may have damaged the device, so each idle launcher checks it again before its
  // next job.
  if (!judged) gpu_.launchers.invalidate_idle();
  if (!judged || !all_right(run_.verdict()) || !timed) return;
  if (!make_outputs()) return;
  measure(nullptr, {}, std::move(reference));
  unlock();
  if (run_.job().kind == JobKind::profile) describe("");
}

std::optional<CandidateResults> GpuJob::record() {
  const Job& job = run_.job();
  if (!job.plans.empty()) return stored_plans(run_, prepared_);
  return gpu_.recorder(run_).record(
      run_, {.prepared = prepared_,
             .cases = all_cases(prepared_),
             .target = facts_.target,
             .source = job.source,
             .options = {.artifacts = job.want_artifacts,
                         .alternatives = is_timed(),
                         .candidates = gpu_.config.recorders,
                         .language = job.language,
                         .before_hidden = [this](const std::vector<CaseDone>& open) {
                           const bool passed = judge_public(open);
                           if (passed) run_.tell_hidden();
                           sent_hidden_ = passed;
                           return passed;
                         }}});
}

bool GpuJob::make_outputs() {
  Result<std::vector<UniqueFd>> files = make_output_files(prepared_);
  if (!files) return run_.fail_infrastructure(files.error(), "making output files");
  outputs_ = std::move(*files);
  return true;
}

/// Launches and judges these cases. If a launch fails for lack of GPU memory, other jobs may occupy
/// the memory. So this function tries once more, with exclusive use of the GPU.
bool GpuJob::launch_and_judge(std::size_t first, const Plans& plans) {
  if (launch_and_judge_once(first, plans)) return true;
  if (!lacked_memory() || holds(Mode::exclusive)) return false;
  run_.verdict().cases.resize(first);
  return alone_again() && launch_and_judge_once(first, plans);
}

/// Prepares a second attempt after a launch has failed for lack of GPU memory: the job gets the GPU
/// exclusively, the launchers that others keep end, and the judges give back what they keep.
bool GpuJob::alone_again() {
  run_.clear_error();
  if (!lock_idle_gpu()) return false;
  session_.reset();
  gpu_.free_memory(run_.deadline(GpuContext::kFreeMemoryMs));
  session_.emplace(run_, gpu_.launchers);
  return true;
}

bool GpuJob::launch_and_judge_once(std::size_t first, const Plans& plans) {
  for (std::size_t at = 0; at < plans.size(); ++at) {
    const std::size_t i = first + at;
    const CasePlan plan{prepared_, i, plans[at], outputs_[i].get()};
    const std::optional<Launched> launched = session_->launch(plan);
    if (!launched) return false;
    run_.enter(Stage::judge);
    CaseRecord* record = judge_case(run_, *judge_,
                                    {run_.job().cases[i], prepared_.cases[i], launched->outputs,
                                     outputs_[i].get(), has_doubtful_origin(*launched)});
    if (record == nullptr) return false;
    if (!check_side_effects(run_, *judge_, *session_, {plan, *launched}, *record)) return false;
  }
  return true;
}

/// Adds figures and artifacts to the verdict. The figures are the kernels and hints of the public
/// case with the most traffic. The artifacts are the plans of all public cases; hidden cases are
/// excluded because a plan or a grid reveals the shapes of its case. If an operator has no public
/// cases, the figures are those of a hidden case, and clients do not see them.
void GpuJob::add_figures(CandidateResults recorded) {
  const std::vector<CaseRequest>& cases = run_.job().cases;
  std::size_t largest = 0;
  for (std::size_t i = 1; i < recorded.cases.size(); ++i) {
    const bool larger = prepared_.cases[i].cost_bytes > prepared_.cases[largest].cost_bytes;
    if (cases[i].hidden == cases[largest].hidden ? larger : cases[largest].hidden) largest = i;
  }
  for (std::size_t i = 0; i < recorded.cases.size(); ++i) {
    if (cases[i].hidden) recorded.cases[i].plan.clear();
    if (i != largest) recorded.cases[i].kernels.clear();
  }
  add_static_figures(run_.verdict(), std::move(recorded), facts_.target,
                     prepared_.cases[largest].cost_bytes, run_.job().want_artifacts);
}

/// Returns the plans of the operator's oracle. Returns no plans if the job has no oracle or if the
/// oracle could not be recorded. The caller must not hold the GPU lock, because recording needs
/// only CPU cores.
GpuJob::Plans GpuJob::record_reference() {
  const Job& job = run_.job();
  if (!has_oracle(job)) return {};
  run_.enter(Stage::record);
  JobExecution auxiliary = run_.auxiliary();
  std::optional<CandidateResults> recorded = gpu_.recorder(run_).record(
      auxiliary, {.prepared = prepared_,
                  .cases = all_cases(prepared_),
                  .target = facts_.target,
                  .source = job.baseline_source,
                  .options = {.alternatives = true, .candidates = gpu_.config.recorders},
                  .whose = RecordedSource::oracle});
  if (!recorded) {
    run_.verdict().hints.push_back(
        {HintKind::oracle_not_recorded, "",
         "the oracle could not be recorded: " + auxiliary.finish().detail});
    return {};
  }
  Plans plans;
  for (CaseDone& done : recorded->cases) plans.push_back(std::move(done.plan));
  return plans;
}

/// Times the submission and the oracle, for which the job must hold the GPU exclusively. Then gives
/// the GPU back, and judges what was timed. `session` is null on the host tier, where the
/// submission has been timed already.
bool GpuJob::measure(LaunchSession* session, const Plans& plans, Plans reference) {
  const bool simulated = gpu_.options.driver == "fake";
  TimingSession timing(run_, {*judge_, gpu_.launchers, facts_, gpu_.measurements, simulated},
                       prepared_, outputs_, std::move(reference));
  bool is_measured = timing.measure(session, plans);
  const bool lacked = lacked_memory() || timing.oracle_lacked_memory();
  if (!is_measured && session != nullptr && lacked)
    is_measured = alone_again() && timing.measure(&*session_, plans);
  if (!is_measured) return false;
  if (own_judge_ && gpu_.config.host_tier && gpu_.config.records && !simulated)
    time_own_reference(gpu_, run_);
  release_gpu();
  const TimingSession::Locks locks{.prepare = [this] { return lock(Mode::prepare); },
                                   .share = [this] { return lock(Mode::shared); },
                                   .release = [this] { release_gpu(); }};
  if (timing.check_outputs(session, plans, locks)) return true;
  return session != nullptr && lacked_memory() && alone_again() &&
         timing.check_outputs(&*session_, plans, {[] { return true; }, [] { return true; }, [] {}});
}

bool GpuJob::sanitize(const Plans& plans) {
  const Sanitizer sanitizer{gpu_.config, gpu_.spawner, gpu_.options.index, gpu_.options.driver};
  for (std::size_t i = 0; i < plans.size(); ++i) {
    const CaseRequest& request = run_.job().cases[i];
    const std::optional<SanitizerReport> report =
        sanitize_case(run_, sanitizer, {prepared_, i, plans[i], outputs_[i].get()});
    if (!report) return false;
    if (!report->findings.empty()) fail_by_findings(run_.verdict(), request, *report);
    // If a hidden case has a finding, the other cases still run. If the job ended here, its
    // duration would reveal which case has the finding.
    if (!report->findings.empty() && !request.hidden) return false;
  }
  return all_right(run_.verdict());
}

void GpuJob::profile(const Plans& plans) {
  std::vector<KernelCounters> counters;
  std::map<std::string, std::string> missing;
  if (run_.job().detail == ProfileDetail::counters && lock_idle_gpu()) {
    auto counted =
        count_kernels(run_,
                      {gpu_.config, gpu_.spawner, gpu_.options.index, gpu_.options.driver,
                       static_cast<double>(facts_.bandwidth_bytes_per_s)},
                      prepared_, plans.front(), outputs_[0].get());
    if (counted)
      counters = std::move(*counted);
    else
      missing["counters"] = counted.error().message;
  }
  unlock();
  describe(plans.front(), std::move(counters), std::move(missing));
}

/// Adds the profile of the job's case after the case has been timed. `plan` is empty on the host
/// tier.
void GpuJob::describe(const std::string& plan, std::vector<KernelCounters> counters,
                      std::map<std::string, std::string> missing) {
  run_.enter(Stage::record);  // disassembly needs only CPU cores
  CandidateResults recorded;
  recorded.cases.emplace_back().plan = plan;
  ProfileSubject subject =
      subject_of(facts_.target, run_.job().cases.front(), prepared_.cases.front(), recorded);
  subject.kernels = run_.verdict().kernels;
  subject.record = &run_.verdict().cases.front();
  subject.peaks = peaks_of_product(facts_.target, facts_.name, facts_.sms);
  if (facts_.bandwidth_bytes_per_s > 0)
    subject.peaks.bytes_per_s = static_cast<double>(facts_.bandwidth_bytes_per_s);
  subject.peaks.device_name = facts_.name;
  subject.multiprocessors = facts_.sms;
  subject.counters = std::move(counters);
  subject.missing = std::move(missing);
  add_profile(run_, gpu_.recorder(run_), subject);
}

}  // namespace assay::sandbox
