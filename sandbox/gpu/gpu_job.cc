#include "sandbox/gpu/gpu_job.h"

#include <cstdint>
#include <optional>
#include <utility>

#include "sandbox/job/verdict_builder.h"
#include "sandbox/judging/attribution.h"
#include "sandbox/judging/judging.h"
#include "sandbox/judging/side_effect_check.h"
#include "sandbox/launch/counting.h"
#include "sandbox/profile/profiling.h"
#include "sandbox/profile/recording.h"
#include "sandbox/record/case_io.h"
#include "sandbox/record/stored_plans.h"

namespace assay::sandbox {
namespace {

constexpr const char* kTierReason = "recorded without a GPU and performed by the trusted launcher";
constexpr const char* kReplayReason =
    "a plan that was recorded before, performed by the trusted launcher; no submission was run";
constexpr std::int64_t kMemoryMs = 30'000;  // for launchers to end whose memory is needed

bool is_timed(const Job& job) { return job.kind == JobKind::profile || job.kind == JobKind::grade; }

}  // namespace

void GpuJob::execute() {
  std::optional<CandidateResults> recorded = record();
  if (recorded)
    on_plan_tier(std::move(*recorded));
  else if (gpu_.config.host_tier && run_.verdict().error_kind == ErrorKind::not_recordable)
    on_host_tier();
}

void GpuJob::on_plan_tier(CandidateResults recorded) {
  const Job& job = run_.job();
  Plans plans;
  for (const CaseDone& done : recorded.cases) plans.push_back(done.plan);
  const std::optional<std::vector<UniqueFd>> outputs = output_files();
  std::optional<LaunchSession> session(std::in_place, run_, gpu_.launchers);
  if (!outputs || !session->ready() || !turn_.share()) return;
  if (!launch_and_judge(session, plans, *outputs)) return;
  run_.verdict().tier = Tier::plan;
  run_.verdict().tier_reason = job.plans.empty() ? kTierReason : kReplayReason;
  add_figures(std::move(recorded));
  if (all_right(run_.verdict()) && is_timed(job)) {
    turn_.release();
    Plans baseline = record_baseline();
    if (turn_.alone()) measure(&*session, plans, *outputs, std::move(baseline));
  }
  if (job.kind == JobKind::profile && !run_.verdict().cases.empty()) profile(plans, *outputs);
}

/// What could not be recorded, with the GPU inside the jail.
void GpuJob::on_host_tier() {
  const std::optional<Diagnostic>& refused = run_.verdict().diagnostic;
  const std::string why =
      run_.verdict().detail +
      (refused && refused->line ? ", line " + std::to_string(*refused->line) : "");
  run_.clear_error();
  run_.verdict().tier = Tier::host;
  run_.verdict().tier_reason =
      "it could not be recorded (" + why +
      "), so it had the GPU inside the jail; its times are wall clock of whole calls";
  const bool timed = is_timed(run_.job());
  Plans baseline = timed ? record_baseline() : Plans();
  if (!turn_.alone()) return;
  const bool judged = gpu_.host.run(run_, judge_, prepared_,
                                    timed ? cases_to_time(run_.job(), prepared_)
                                          : std::vector<bool>(prepared_.cases.size(), false));
  // Whatever it did to the device is not in what parked launchers know.
  if (!judged) gpu_.launchers.invalidate_idle();
  if (!judged || !all_right(run_.verdict()) || !timed) return;
  const std::optional<std::vector<UniqueFd>> outputs = output_files();
  if (!outputs) return;
  measure(nullptr, {}, *outputs, std::move(baseline));
  turn_.release();
  if (run_.job().kind == JobKind::profile) describe("");
}

std::optional<CandidateResults> GpuJob::record() {
  const Job& job = run_.job();
  if (!job.plans.empty()) return stored_plans(run_, prepared_);
  return gpu_.submissions.record(
      run_, gpu_.pool, prepared_, gpu_.facts.target, job.source,
      {job.want_artifacts, is_timed(job), gpu_.config.recorders, job.language});
}

std::optional<std::vector<UniqueFd>> GpuJob::output_files() {
  Result<std::vector<UniqueFd>> files = make_output_files(prepared_);
  if (files) return std::move(*files);
  run_.fail_infrastructure(files.error(), "making output files");
  return std::nullopt;
}

/// Where there is no memory, perhaps it is the others': once more, without them.
bool GpuJob::launch_and_judge(std::optional<LaunchSession>& session, const Plans& plans,
                              const std::vector<UniqueFd>& outputs) {
  if (launch_and_judge_once(*session, plans, outputs)) return true;
  if (run_.verdict().error_kind != ErrorKind::gpu_memory_limit || turn_.is_alone()) return false;
  run_.clear_error();
  run_.verdict().cases.clear();
  if (!turn_.alone()) return false;
  session.reset();
  gpu_.launchers.end_those_of_runs(
      run_.deadline(kMemoryMs));  // those that could not end in time have their memory still: then
                                  // it is as before
  session.emplace(run_, gpu_.launchers);
  return launch_and_judge_once(*session, plans, outputs);
}

bool GpuJob::launch_and_judge_once(LaunchSession& session, const Plans& plans,
                                   const std::vector<UniqueFd>& outputs) {
  for (std::size_t i = 0; i < plans.size(); ++i) {
    const std::optional<Launched> launched =
        session.launch(prepared_, i, plans[i], outputs[i].get());
    if (!launched) return false;
    run_.enter(Stage::judge);
    CaseRecord* record =
        judge_case(run_, judge_, run_.job().cases[i], prepared_.cases[i], launched->outputs,
                   outputs[i].get(), has_doubtful_origin(*launched));
    if (record == nullptr) return false;
    if (!check_side_effects(run_, judge_, session, prepared_, i, plans[i], *launched,
                            outputs[i].get(), *record))
      return false;
  }
  return true;
}

/// Kernels and hints of the case with the most traffic; plans of all as artifacts.
void GpuJob::add_figures(CandidateResults recorded) {
  std::size_t largest = 0;
  for (std::size_t i = 1; i < prepared_.cases.size(); ++i) {
    if (prepared_.cases[i].cost_bytes > prepared_.cases[largest].cost_bytes) largest = i;
  }
  for (std::size_t i = 0; i < recorded.cases.size(); ++i) {
    // A plan carries the shapes of its case: those of hidden ones stay here.
    if (run_.job().cases[i].hidden) recorded.cases[i].plan.clear();
    if (i != largest) recorded.cases[i].kernels.clear();
  }
  add_static_figures(run_.verdict(), std::move(recorded), gpu_.facts.target,
                     prepared_.cases[largest].cost_bytes, run_.job().want_artifacts);
}

/// The oracle's plans; empty when there is no baseline or it could not be recorded. It takes
/// processors, so the caller has no GPU meanwhile.
GpuJob::Plans GpuJob::record_baseline() {
  const Job& job = run_.job();
  if (job.baseline_source.empty()) return {};
  run_.enter(Stage::record);
  JobExecution beside = run_.beside();
  std::optional<CandidateResults> recorded =
      gpu_.oracles.record(beside, gpu_.pool, prepared_, gpu_.facts.target, job.baseline_source,
                          {.alternatives = true, .candidates = gpu_.config.recorders});
  if (!recorded) {
    run_.verdict().hints.push_back({HintKind::oracle_not_recorded, "",
                                    "the oracle could not be recorded: " + beside.finish().detail});
    return {};
  }
  Plans plans;
  for (CaseDone& done : recorded->cases) plans.push_back(std::move(done.plan));
  return plans;
}

/// `session` null: on the host tier, where the submission's times are known already.
bool GpuJob::measure(LaunchSession* session, const Plans& plans,
                     const std::vector<UniqueFd>& outputs, Plans baseline) {
  return TimingSession(run_, {judge_, gpu_.launchers, gpu_.facts, gpu_.known}, prepared_, outputs,
                       std::move(baseline))
      .measure(session, plans);
}

void GpuJob::profile(const Plans& plans, const std::vector<UniqueFd>& outputs) {
  std::vector<KernelCounters> counters;
  std::map<std::string, std::string> missing;
  if (run_.job().detail == ProfileDetail::counters && turn_.alone()) {
    auto counted =
        count_kernels(run_, {gpu_.config, gpu_.spawner, gpu_.options.index, gpu_.options.driver},
                      prepared_, plans.front(), outputs[0].get());
    if (counted)
      counters = std::move(*counted);
    else
      missing["counters"] = counted.error().message;
  }
  turn_.release();
  describe(plans.front(), std::move(counters), std::move(missing));
}

/// The profile of a job's case, which has been timed; `plan` empty: on the host tier.
void GpuJob::describe(const std::string& plan, std::vector<KernelCounters> counters,
                      std::map<std::string, std::string> missing) {
  run_.enter(Stage::record);  // it is the processors' work: code is taken apart
  CandidateResults recorded;
  recorded.cases.emplace_back().plan = plan;
  ProfileSubject subject =
      subject_of(gpu_.facts.target, run_.job().cases.front(), prepared_.cases.front(), recorded);
  subject.kernels = run_.verdict().kernels;
  subject.record = &run_.verdict().cases.front();
  subject.peaks =
      peaks_of_device(gpu_.facts.target, gpu_.facts.sms, gpu_.facts.bandwidth_bytes_per_s);
  subject.peaks.device_name = gpu_.facts.name;
  subject.multiprocessors = gpu_.facts.sms;
  subject.counters = std::move(counters);
  subject.missing = std::move(missing);
  add_profile(run_, gpu_.pool, subject);
}

}  // namespace assay::sandbox
