#include "sandbox/timing/timing_session.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <utility>

#include "base/clock.h"
#include "base/median.h"
#include "sandbox/job/verdict_builder.h"
#include "sandbox/judging/judging.h"
#include "sandbox/timing/oracle_series.h"
#include "sandbox/timing/timed_step.h"

namespace assay::sandbox {
namespace {

constexpr int kMaxRounds = 8;
// The maximum number of samples in a block. A block ends earlier when its median is known to one
// percent, but not before kLeastBlockSamples. The first block shows how much the samples differ, so
// the later blocks of the series take only as many as it still needs. kBlockSamples is large,
// because another block costs as much as 40 samples (docs/measurements/server.md).
constexpr std::int64_t kBlockSamples = 96;
constexpr std::int64_t kFirstBlockSamples = 24;
// The maximum number of samples of the oracle's block in the last of the least rounds. With it, the
// samples of oracle and submission have the same mean time if both take as many as they may: the
// oracle 24 and 48 in the rounds 1 and 3, and the submission 24, 96 and 96 in the rounds 1 to 3.
constexpr std::int64_t kOracleBlockSamples = 48;
constexpr std::int64_t kLeastBlockSamples = 10;
// The time limit for the minimum number of rounds of one case. The round that is running at the
// limit is completed.
constexpr auto kMaxSeries = std::chrono::milliseconds(1'500);
// After the minimum number of rounds, a further round starts only if the series has taken less than
// this time so far.
constexpr auto kMaxRefining = std::chrono::milliseconds(200);
// The number of rounds for PyTorch if it is not the baseline. One is enough, because Perf does not
// depend on its time then.
constexpr int kPyTorchRounds = 1;
// The time for the samples of PyTorch in a round. It is shorter if Perf does not depend on them,
// because PyTorch takes milliseconds for some operators, and all other jobs wait.
constexpr auto kMaxPyTorch = std::chrono::milliseconds(25);
constexpr auto kMaxPyTorchBaseline = std::chrono::milliseconds(100);
// The number of side samples in each block after the first: samples with warm caches, and as many
// samples by the host's clock.
constexpr std::int64_t kLaterSideSamples = 1;
constexpr std::int64_t kLaterWarmUpMs = 1;  // short, because the device was working just before
// The time after a series for which the GPU's clocks stay high.
constexpr auto kStillWarm = std::chrono::milliseconds(250);
enum class Subject { submission, oracle, pytorch };

/// Returns the reading of the system's monotonic clock.
std::chrono::nanoseconds now() { return std::chrono::nanoseconds(system_clock().monotonic_ns()); }

}  // namespace

std::vector<bool> cases_to_time(const PreparedJob& prepared) {
  std::vector<CaseCost> costs;
  for (const PreparedCase& one : prepared.cases) costs.push_back({one.cost_bytes, one.cost_flops});
  return worth_timing(costs);
}

TimingSession::TimingSession(JobExecution& run, Parts parts, const PreparedJob& prepared,
                             const std::vector<UniqueFd>& outputs,
                             std::vector<std::string> oracle_plans)
    : run_(run),
      parts_(parts),
      prepared_(prepared),
      outputs_(outputs),
      oracle_plans_(std::move(oracle_plans)),
      auxiliary_(run.auxiliary()),
      oracle_(std::in_place, auxiliary_, parts.launchers, LaunchSession::Whose::oracle),
      random_(std::random_device{}()),
      timed_(cases_to_time(prepared)),
      warm_(now() < std::chrono::nanoseconds(parts.known.timed_at_ns.load()) + kStillWarm),
      aside_(prepared.cases.size(), 0),
      are_judged_(prepared.cases.size(), false),
      chosen_(prepared.cases.size()),
      found_(prepared.cases.size()) {}

TimingSession::~TimingSession() {
  std::vector<CaseRecord>& records = run_.verdict().cases;
  for (std::size_t i = 0; i < std::min(records.size(), timed_.size()); ++i) {
    if (timed_[i] && !are_judged_[i]) records[i].latency.reset();
  }
  if (const std::optional<LaunchFigures>& oracle = auxiliary_.verdict().launch) {
    std::optional<LaunchFigures>& whole = run_.verdict().launch;
    if (!whole) whole.emplace();
    whole->add(*oracle);
  }
  if (auxiliary_.failed())
    run_.verdict().hints.push_back({HintKind::oracle_not_timed, "",
                                    "the oracle was not timed: " + auxiliary_.finish().detail});
}

bool TimingSession::measure(LaunchSession* session, const std::vector<std::string>& plans) {
  if (++attempts_ > 1) {
    bool right = true;
    for (std::size_t i = 0; i < prepared_.cases.size(); ++i)
      right = judge_aside(i, {[] { return true; }, [] { return true; }, [] {}}) && right;
    if (!right) return false;
    auxiliary_.clear_error();
    oracle_.emplace(auxiliary_, parts_.launchers, LaunchSession::Whose::oracle);
  }
  for (std::size_t i = 0; i < prepared_.cases.size(); ++i) {
    if (timed_[i] && !measure_case(i, session, session != nullptr ? plans[i] : std::string())) {
      if (run_.failed()) blame(run_.verdict().cases[i]);
      return false;
    }
  }
  oracle_.reset();  // the next timed job needs its launcher
  return true;
}

bool TimingSession::measure_case(std::size_t i, LaunchSession* session, const std::string& plan) {
  all_fresh_ = false;
  may_begin_again_ = session != nullptr;  // the host tier has no fresh samples of the submission
  if (!measure_series(i, session, plan)) return false;
  if (!begins_again_) return true;
  all_fresh_ = true;
  may_begin_again_ = false;
  const std::string& id = prepared_.cases[i].id;
  add_hint(run_.verdict(), {HintKind::times_all_fresh, id,
                            "case '" + id +
                                "' was timed with instructions that are not in the caches, because "
                                "loading them takes a part of its time"});
  return measure_series(i, session, plan);
}

bool TimingSession::measure_series(std::size_t i, LaunchSession* session, const std::string& plan) {
  begins_again_ = false;
  CaseRecord& record = run_.verdict().cases[i];
  if (session != nullptr) record.latency.reset();  // of an earlier attempt
  Samples submission;
  const std::string key = BaselineCache::key(
      run_.job().operator_name, run_.verdict().provenance.operator_revision, run_.job().cases[i]);
  BaselineTimes known = known_times(key);
  const PyTorchTimes::Known graded_pytorch = earlier_pytorch(key);
  if (graded_pytorch.enough()) known.pytorch_ns = graded_pytorch.shortest_ns;
  const bool by_pytorch = pytorch_is_baseline();
  const bool baseline_known = known.baseline && (by_pytorch || !oracle_plans_.empty());
  OracleSeries oracle(earlier_grade(key));
  const bool grade = run_.job().kind == JobKind::grade;
  highest_oracle_mhz_ = 0;
  distrusted_ = false;
  std::vector<double> pytorch;
  std::array<Subject, 3> order{Subject::submission, Subject::oracle, Subject::pytorch};
  const std::chrono::nanoseconds begin = now();
  // Several rounds are taken so that a drift of the clocks affects the submission, the oracle and
  // PyTorch equally. If only the submission is timed, one round is enough. Of the least rounds, the
  // oracle has a block in the first and in the last one: unlike the submission it needs no runs on
  // three new inputs, and its blocks around the submission's second one see the same drift. It also
  // has one if it lacks a block, and if the series may end early.
  const int least = baseline_known && known.pytorch_ns ? 1 : kMinRounds;
  const auto pytorch_steady = [&] {
    return !by_pytorch || pytorch.empty() || known_well_enough(median_interval(pytorch));
  };
  for (int round = 0;
       round < kMaxRounds && !distrusted_ && !begins_again_ &&
       (round < least || !submission.steady() || !oracle.steady() || !pytorch_steady());
       ++round) {
    if (round > 0 && now() - begin >= (round < least ? kMaxSeries : kMaxRefining)) break;
    if (session == nullptr) {
      if (round > 0 && !oracle.wants_block() && !by_pytorch) break;  // nothing is left to time
      if (!refresh(i)) return false;
    }
    const int rounds_left = std::max(1, least - round);
    std::shuffle(order.begin(), order.end(), random_);
    for (const Subject subject : order) {
      if (begins_again_) break;
      if (subject == Subject::submission && session != nullptr &&
          !time_submission(i, *session, plan, next_block(submission, rounds_left), submission))
        return false;
      const bool oracle_due = session == nullptr || oracle.samples().empty() ||
                              round >= least - 1 || now() - begin >= kMaxSeries / 2;
      if (subject == Subject::oracle && oracle_due && !baseline_known && oracle.wants_block()) {
        TimedBlock block = next_block(oracle.samples(), rounds_left);
        if (round < least) block.max_samples = std::min(block.max_samples, kOracleBlockSamples);
        time_oracle(i, block, oracle.samples());
        if (session != nullptr && attempts_ == 1 && oracle_lacked_memory()) return false;
        oracle.look();
      }
      if (subject == Subject::pytorch && !known.pytorch_ns &&
          (by_pytorch || round < kPyTorchRounds))
        time_pytorch(i, pytorch);
    }
    warm_ = true;
    parts_.known.timed_at_ns = now().count();
  }
  if (begins_again_) return true;
  // Such a block is taken for its first run, not for its other samples.
  TimedBlock block = next_block(submission, 1);
  block.max_samples = kLeastBlockSamples;
  const auto first_runs_in_doubt = [&] {
    return session != nullptr && !submission.empty() && !distrusted_ && !begins_again_ &&
           (first_runs_are_slow(submission.timing()) || (grade && submission.lacks_first_runs()));
  };
  if (!confirm_first_runs(first_runs_in_doubt,
                          [&] { return time_submission(i, *session, plan, block, submission); }))
    return false;
  if (begins_again_) return true;
  if (grade && !distrusted_ && submission.lacks_first_runs())
    distrust(i, "the first runs on new inputs could not be measured");
  if (!submission.empty() && !distrusted_) record.latency = submission.timing();
  BaselineTimes measured;
  if (oracle.is_new()) measured.baseline = oracle.timing();
  if (!pytorch.empty()) measured.pytorch_ns = median_interval(pytorch).median;
  if (by_pytorch && !pytorch.empty()) measured.baseline = eager_timing(pytorch);
  Found& found = found_[i].emplace();
  found.key = key;
  found.at_ns = system_clock().monotonic_ns();
  if (usable_by_grades() && !pytorch_is_baseline() && !distrusted_)
    found.pytorch_ns = measured.pytorch_ns;
  if (measured.pytorch_ns && graded_pytorch.shortest_ns)
    measured.pytorch_ns = std::min(*measured.pytorch_ns, *graded_pytorch.shortest_ns);
  // A later grade may only reuse a time of the oracle that is known well enough.
  const bool confirmable = !all_fresh_ && (by_pytorch || (oracle.steady() && !distrusted_));
  found.confirmable = usable_by_grades() && confirmable;
  found.times = measured;
  if (all_fresh_ && !by_pytorch) found.times.baseline.reset();  // other jobs have other samples
  if (baseline_known)
    record.baseline_latency = known.baseline;
  else
    record.baseline_latency = by_pytorch ? measured.baseline : oracle.timing();
  if (const std::optional<double> pytorch_ns =
          known.pytorch_ns ? known.pytorch_ns : measured.pytorch_ns) {
    // PyTorch is timed with CUDA events. They have the same overhead as the event markers with
    // which the launcher times the submission.
    const double overhead = record.latency ? record.latency->overhead_ns : 0;
    record.pytorch_ns = std::max(0.0, *pytorch_ns - overhead);
    if (by_pytorch && record.baseline_latency)
      record.baseline_latency = without_overhead(std::move(*record.baseline_latency), overhead);
  }
  if (session != nullptr) chosen_[i] = submission.chosen();
  return true;
}

void TimingSession::blame(CaseRecord& record) const {
  const Verdict& verdict = run_.verdict();
  if (verdict.outcome != Outcome::error || is_inconclusive(verdict.error_kind)) return;
  record.outcome = Outcome::error;
  record.reason = "right at first, ended when it was timed: " + verdict.detail;
}

TimedBlock TimingSession::next_block(const Samples& so_far, int rounds_left) const {
  TimedBlock block;
  block.min_samples = kLeastBlockSamples;
  block.all_fresh = all_fresh_;
  if (so_far.empty()) {
    // If no other round is due, the block should be enough alone.
    block.max_samples = rounds_left > 1 ? kFirstBlockSamples : kBlockSamples;
  } else {
    block.side_samples = kLaterSideSamples;
    block.max_samples =
        std::clamp(so_far.missing() / rounds_left, kLeastBlockSamples, kBlockSamples);
  }
  if (warm_) block.warm_up_ms = kLaterWarmUpMs;
  return block;
}

/// Makes the judge create new inputs for a case, and returns their seed. Returns "" if the inputs
/// were not replaced. Inputs in memory files, and inputs on which the recorded launches depend, are
/// never replaced. Returns nothing if the judge failed.
std::optional<std::string> TimingSession::refresh(std::size_t i) {
  const TimedStep step(run_.job().operator_name, "new inputs");
  const std::string& id = prepared_.cases[i].id;
  run_.enter(Stage::judge);
  Result<std::string> seed =
      parts_.judge.refresh(run_.job().id, id, run_.deadline(run_.job().limits.judge_wall_ms));
  if (!seed) {
    run_.fail_by_judge(seed.error(), "making new inputs for case '" + id + "'");
    return std::nullopt;
  }
  if (!seed->empty()) run_.verdict().provenance.seeds[id] += "," + *seed;
  return std::move(*seed);
}

bool TimingSession::time_submission(std::size_t case_index, LaunchSession& session,
                                    const std::string& plan, const TimedBlock& block,
                                    Samples& into) {
  std::optional<Timing> doubted;
  TimingDoubt last_doubt = TimingDoubt::none;
  const bool first = into.empty();
  for (int i = 0; i < kClockTries; ++i) {
    bool renewed = false;
    const auto stage_next_inputs = [&] {
      const std::optional<std::string> seed = refresh(case_index);
      renewed = seed && !seed->empty();
      return seed.has_value();
    };
    std::optional<TimedStep> step(std::in_place, run_.job().operator_name, "submission");
    std::optional<Launched> launched =
        session.launch({prepared_, case_index, plan, outputs_[case_index].get()},
                       {.time = block,
                        .chosen = into.chosen(),
                        .inspect = first,
                        .stage_next_inputs = stage_next_inputs});
    CaseRecord& record = run_.verdict().cases[case_index];
    if (!launched) return false;
    if (!renewed) launched->samples->first_run_ns.reset();
    step->has_launched(launched->parts);
    step.emplace(run_.job().operator_name, "outputs");
    if (rechecks(first) && !keep_outputs(case_index, *launched)) return false;
    step.reset();
    check_inputs(run_.verdict(), record, *launched);
    if (record.outcome != Outcome::pass && ends_checks(record)) return false;
    const Timing timing = timing_of(*launched->samples);
    last_doubt = doubt(timing, *launched);
    if (must_begin_again(last_doubt, i)) return true;
    if (last_doubt != TimingDoubt::none) {
      doubted = timing;
      continue;
    }
    if (first) add_inspection(record, *launched);
    into.add(timing, std::move(launched->chosen), renewed);
    return true;
  }
  const std::string times =
      describe(last_doubt, *doubted) + ", " + std::to_string(kClockTries) + " times";
  if (!baseline_is_trusted(case_index, block))
    return run_.fail(ErrorKind::internal_error,
                     "the times disagree: " + times + "; does another program use this GPU?");
  distrust(case_index, times + ", while the times of the baseline agree");
  return true;
}

void TimingSession::add_inspection(CaseRecord& record, Launched& launched) {
  if (!launched.inspection) return;
  record.deterministic = launched.inspection->deterministic;
  record.timeline = std::move(launched.inspection->timeline);
  use_reported_names(record.timeline, run_.verdict().kernels);
  record.own_share = own_share(record.timeline);
  // The verdict lists only the kernels of the case with the most traffic.
  const auto most =
      std::max_element(prepared_.cases.begin(), prepared_.cases.end(),
                       [](const auto& a, const auto& b) { return a.cost_bytes < b.cost_bytes; });
  if (record.deterministic == false) {
    add_hint(run_.verdict(),
             {HintKind::not_deterministic, "",
              "two runs on the same inputs gave different bits: something depends on the order in "
              "which blocks run (float atomics?)"});
  }
  if (record.id == most->id && !record.hidden)
    add_time_shares(run_.verdict().kernels, record.timeline);
}

void TimingSession::time_oracle(std::size_t case_index, const TimedBlock& block, Samples& into) {
  if (oracle_plans_.empty() || auxiliary_.failed()) return;
  run_.enter(Stage::baseline);
  for (int i = 0; i < kClockTries; ++i) {
    TimedStep step(run_.job().operator_name, "oracle");
    std::optional<Launched> launched = oracle_->launch(
        {prepared_, case_index, oracle_plans_[case_index], outputs_[case_index].get()},
        {.time = block, .chosen = into.chosen(), .returns_outputs = false});
    if (!launched) return;
    step.has_launched(launched->parts);
    const Timing timing = timing_of(*launched->samples);
    const TimingDoubt doubted = doubt(timing, *launched);
    if (must_begin_again(doubted, i)) return;
    if (doubted != TimingDoubt::none || is_throttled(timing, highest_oracle_mhz_)) continue;
    highest_oracle_mhz_ = std::max(highest_oracle_mhz_, timing.clock_mhz);
    into.add(timing, std::move(launched->chosen));
    return;
  }
  run_.verdict().hints.push_back(
      {HintKind::oracle_block_missing, "",
       "a block of the oracle's samples is missing: its times disagreed "
       "or the GPU was throttled, as when another program uses this GPU"});
}

void TimingSession::time_pytorch(std::size_t i, std::vector<double>& into) {
  if (run_.job().reference) return;  // its judge has no GPU; GpuJob::time_own_reference() times it
  run_.enter(Stage::baseline);
  const TimedStep step(run_.job().operator_name, "pytorch");
  const std::string& id = prepared_.cases[i].id;
  const Result<std::vector<double>> samples = parts_.judge.time_reference(
      run_.job().id, id, pytorch_is_baseline() ? kMaxPyTorchBaseline : kMaxPyTorch,
      run_.deadline(run_.job().limits.judge_wall_ms));
  if (samples) {
    into.insert(into.end(), samples->begin(), samples->end());
    return;
  }
  add_hint(run_.verdict(),
           {HintKind::pytorch_not_timed, id, "PyTorch was not timed: " + samples.error().message});
}

}  // namespace assay::sandbox
