#include "sandbox/timing/timing_session.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <utility>

#include "base/median.h"
#include "sandbox/job/verdict_builder.h"
#include "sandbox/judging/judging.h"
#include "sandbox/timing/statistics.h"

namespace assay::sandbox {
namespace {

constexpr double kFloorTolerance = 0.95;  // faster than physics by more than 5 % is rejected
constexpr int kMinRounds = 3;             // where something is timed beside the submission
constexpr int kMaxRounds = 8;
constexpr std::int64_t kBlockSamples =
    48;  // at most; one whose median is known to a percent is over, after ten at least
constexpr auto kMaxSeries =
    std::chrono::milliseconds(1'500);  // of one case; a round that has begun is finished
constexpr auto kMaxRefining = std::chrono::milliseconds(200);  // the same after kMinRounds
constexpr double kSteady = 0.01;  // half of the 95 % interval of a median that is known well
                                  // enough: to half of that, ratios repeated no better
constexpr double kSteadyNs = 17;  // or this: half of a tick of the device's timer, 32 ns, and
                                  // rounding: less cannot be found out
constexpr int kPyTorchRounds = kMinRounds;  // nothing is ranked by it
constexpr auto kMaxPyTorch =
    std::chrono::milliseconds(150);  // of one case: a reference may be thousands of launches
constexpr std::int64_t kLaterSideSamples =
    1;  // of blocks after the first: warm, and by the host's clock
constexpr std::int64_t kLaterWarmUpMs = 1;  // where the device was at work just now
constexpr auto kStillWarm = std::chrono::milliseconds(250);  // after a series the clocks are up
constexpr double kClockTolerance =
    0.9;  // the host's clock may not show less than this of the device's
constexpr std::size_t kLeastFirstRuns = 3;  // whose median is not one run's noise
constexpr double kFirstRunFactor = 1.1;   // over the median of all samples: more is looked at again
constexpr double kFirstRunSlackNs = 300;  // as is more than this, of very short ones
constexpr int kClockTries =
    4;  // blocks until both agree: another program's turn on the GPU is in the marks of one alone

enum class Who { submission, oracle, pytorch };

}  // namespace

std::vector<bool> cases_to_time(const Job& job, const PreparedJob& prepared) {
  std::vector<CaseCost> costs;
  for (const PreparedCase& one : prepared.cases) costs.push_back({one.cost_bytes, one.cost_flops});
  if (job.timed_cases.empty()) return worth_timing(costs);
  std::vector<bool> named;
  for (const PreparedCase& one : prepared.cases)
    named.push_back(std::find(job.timed_cases.begin(), job.timed_cases.end(), one.id) !=
                    job.timed_cases.end());
  return named;
}

bool clocks_agree(const Timing& block) {
  const bool real = block.clock_mhz > 0;  // a simulated device's time is made up
  return !real || block.wall_ns == 0 ||
         block.wall_ns >= kClockTolerance * median_interval(block.samples_ns).median;
}

bool known_well_enough(const MedianInterval& interval) {
  return interval.relative_half_width() <= kSteady ||
         (interval.high - interval.low) / 2 <= kSteadyNs;
}

bool first_runs_are_slow(const Timing& timing) {
  return timing.first_run_ns > kFirstRunFactor * timing.median_ns &&
         timing.first_run_ns > timing.median_ns + kFirstRunSlackNs;
}

bool confirm_first_runs(const std::function<Timing()>& timing,
                        const std::function<bool()>& take_block) {
  for (int more = 0; more < kConfirmingBlocks && first_runs_are_slow(timing()); ++more) {
    if (!take_block()) return false;
  }
  return true;
}

/// Of one of them, block after block.
class TimingSession::Samples {
 public:
  void add(Launched launched) {
    Timing& block = *launched.timing;
    all_.samples_ns.insert(all_.samples_ns.end(), block.samples_ns.begin(), block.samples_ns.end());
    all_.discarded += block.discarded;
    warm_.push_back(block.warm_ns);
    wall_.push_back(block.wall_ns);
    clock_.push_back(block.clock_mhz);
    overhead_.push_back(block.overhead_ns);
    chosen_ = std::move(launched.chosen);
    if (block.first_run_ns > 0) first_.push_back(block.first_run_ns);
  }
  bool empty() const { return all_.samples_ns.empty(); }
  bool steady() const { return empty() || known_well_enough(median_interval(all_.samples_ns)); }
  /// Returns the chosen alternative of each tunable of the plan. Empty before the first block.
  const std::vector<std::int64_t>& chosen() const { return chosen_; }
  Timing timing() const {
    Timing timing = all_;
    const MedianInterval interval = median_interval(all_.samples_ns);
    timing.median_ns = interval.median;
    timing.low_ns = interval.low;
    timing.high_ns = interval.high;
    timing.warm_ns = median_interval(warm_).median;
    timing.first_run_ns = first_.size() < kLeastFirstRuns ? 0 : median_interval(first_).median;
    timing.wall_ns = median_interval(wall_).median;
    timing.overhead_ns = median_interval(overhead_).median;
    timing.clock_mhz = median_interval(clock_).median;
    return timing;
  }

 private:
  Timing all_;
  std::vector<double> warm_, wall_, clock_, overhead_, first_;
  std::vector<std::int64_t> chosen_;
};

TimingSession::TimingSession(JobExecution& run, Parts parts, const PreparedJob& prepared,
                             const std::vector<UniqueFd>& outputs,
                             std::vector<std::string> baseline)
    : run_(run),
      parts_(parts),
      prepared_(prepared),
      outputs_(outputs),
      baseline_(std::move(baseline)),
      auxiliary_(run.auxiliary()),
      oracle_(auxiliary_, parts.launchers, LaunchSession::Whose::oracle),
      random_(std::random_device{}()),
      timed_(cases_to_time(run.job(), prepared)),
      warm_(std::chrono::steady_clock::now() < parts.known.timed_at.load() + kStillWarm) {}

TimingSession::~TimingSession() {
  if (auxiliary_.failed())
    run_.verdict().hints.push_back({HintKind::oracle_not_timed, "",
                                    "the oracle was not timed: " + auxiliary_.finish().detail});
}

bool TimingSession::measure(LaunchSession* session, const std::vector<std::string>& plans) {
  for (std::size_t i = 0; i < prepared_.cases.size(); ++i) {
    if (timed_[i] && !measure_case(i, session, session != nullptr ? plans[i] : std::string()))
      return false;
  }
  return true;
}

bool TimingSession::measure_case(std::size_t i, LaunchSession* session, const std::string& plan) {
  CaseRecord& record = run_.verdict().cases[i];
  Samples submission, oracle;
  const std::string key = BaselineCache::key(
      run_.job().operator_name, run_.verdict().provenance.operator_revision, run_.job().cases[i]);
  const BaselineTimes known = known_times(key);
  const bool oracle_known = known.oracle && !baseline_.empty();
  std::vector<double> pytorch;
  std::chrono::steady_clock::duration pytorch_took{};
  std::array<Who, 3> order{Who::submission, Who::oracle, Who::pytorch};
  const auto begin = std::chrono::steady_clock::now();
  const int least = oracle_known && known.pytorch_ns
                        ? 1
                        : kMinRounds;  // with nothing beside it, nothing drifts apart
  for (int round = 0;
       round < kMaxRounds && (round < least || !submission.steady() || !oracle.steady()); ++round) {
    if (round > 0 &&
        std::chrono::steady_clock::now() - begin >= (round < least ? kMaxSeries : kMaxRefining))
      break;
    if (session == nullptr && !refresh(i)) return false;
    const TimedBlock block = next_block(round == 0);
    std::shuffle(order.begin(), order.end(), random_);
    for (const Who who : order) {
      if (who == Who::submission && session != nullptr &&
          !time_submission(i, *session, plan, block, submission))
        return false;
      if (who == Who::oracle && !oracle_known) time_oracle(i, block, oracle);
      if (who == Who::pytorch && !known.pytorch_ns && round < kPyTorchRounds &&
          pytorch_took < kMaxPyTorch) {
        const auto begun = std::chrono::steady_clock::now();
        time_pytorch(i, pytorch);
        pytorch_took += std::chrono::steady_clock::now() - begun;
      }
    }
    warm_ = true;
    parts_.known.timed_at = std::chrono::steady_clock::now();
  }
  const TimedBlock block = next_block(false);
  if (!confirm_first_runs([&] { return submission.timing(); },
                          [&] { return time_submission(i, *session, plan, block, submission); }))
    return false;
  if (!submission.empty()) record.latency = submission.timing();
  BaselineTimes measured;
  if (!oracle.empty()) measured.oracle = oracle.timing();
  if (!pytorch.empty()) measured.pytorch_ns = median_interval(pytorch).median;
  remember(key, measured);
  if (oracle_known)
    record.baseline_latency = known.oracle;
  else if (measured.oracle)
    record.baseline_latency = measured.oracle;
  if (const std::optional<double> pytorch_ns =
          known.pytorch_ns ? known.pytorch_ns : measured.pytorch_ns) {
    // Its events are of the same kind as ours.
    const double overhead = record.latency ? record.latency->overhead_ns : 0;
    record.pytorch_ns = std::max(0.0, *pytorch_ns - overhead);
  }
  return kept_nothing(record) && above_floor(record);
}

BaselineTimes TimingSession::known_times(const std::string& key) const {
  if (run_.job().kind == JobKind::profile) return parts_.known.baselines.find(key);
  return {.oracle = std::nullopt, .pytorch_ns = parts_.known.graded.find(key).pytorch_ns};
}

void TimingSession::remember(const std::string& key, const BaselineTimes& measured) {
  parts_.known.baselines.put(key, measured);
  if (run_.job().kind == JobKind::grade) parts_.known.graded.put(key, measured);
}

TimedBlock TimingSession::next_block(bool first) const {
  TimedBlock block;
  block.max_samples = kBlockSamples;
  if (!first) block.side_samples = kLaterSideSamples;
  if (warm_) block.warm_up_ms = kLaterWarmUpMs;
  return block;
}

bool TimingSession::kept_nothing(CaseRecord& record) {
  if (!record.latency || !first_runs_are_slow(*record.latency)) return true;
  const auto ns = [](double value) { return std::to_string(std::llround(value)) + " ns"; };
  not_its_work(run_.verdict(), record,
               "the first run on new inputs takes " + ns(record.latency->first_run_ns) +
                   ", later ones on the same " + ns(record.latency->median_ns) +
                   ": they use what an earlier run left behind");
  return false;
}

/// Where inputs lie in memory files they stay; those that steer what was recorded stay everywhere.
std::optional<std::string> TimingSession::refresh(std::size_t i) {
  const std::string& id = prepared_.cases[i].id;
  run_.enter(Stage::judge);
  Result<std::string> seed =
      parts_.judge.refresh(run_.job().id, id, run_.deadline(run_.job().limits.judge_wall_ms));
  if (!seed) {
    run_.fail_infrastructure(seed.error(), "making new inputs for case '" + id + "'");
    return std::nullopt;
  }
  if (!seed->empty()) run_.verdict().provenance.seeds[id] += "," + *seed;
  return std::move(*seed);
}

bool TimingSession::time_submission(std::size_t case_index, LaunchSession& session,
                                    const std::string& plan, const TimedBlock& block,
                                    Samples& into) {
  std::optional<Timing> disagreed;
  const bool first = into.empty();
  for (int i = 0; i < kClockTries; ++i) {
    bool renewed = false;
    const auto stage_next_inputs = [&] {
      const std::optional<std::string> seed = refresh(case_index);
      renewed = seed && !seed->empty();
      return seed.has_value();
    };
    std::optional<Launched> launched =
        session.launch(prepared_, case_index, plan, outputs_[case_index].get(), block,
                       into.chosen(), first, stage_next_inputs);
    if (launched && !renewed) launched->timing->first_run_ns = 0;
    if (!launched || (rechecks(first) && !still_right(run_.verdict().cases[case_index], *launched,
                                                      outputs_[case_index].get())))
      return false;
    if (!clocks_agree(*launched->timing)) {
      disagreed = launched->timing;
      continue;
    }
    if (first) inspected(run_.verdict().cases[case_index], *launched);
    into.add(std::move(*launched));
    return true;
  }
  const std::string times =
      std::to_string(std::llround(median_interval(disagreed->samples_ns).median)) +
      " ns by the device's clock, " + std::to_string(std::llround(disagreed->wall_ns)) +
      " ns by the host's, " + std::to_string(kClockTries) + " times";
  if (oracle_clocks_agree(case_index, block))
    return run_.fail(ErrorKind::launch_failure,
                     "case '" + prepared_.cases[case_index].id + "' took " + times +
                         ", and those of the oracle agree: it cannot be timed");
  return run_.fail(ErrorKind::internal_error,
                   "the clocks disagree: " + times + "; does another program use this GPU?");
}

/// Right now, at the first try: then it is not another program that makes them disagree.
bool TimingSession::oracle_clocks_agree(std::size_t case_index, const TimedBlock& block) {
  if (baseline_.empty() || auxiliary_.failed()) return false;
  const std::optional<Launched> launched = oracle_.launch(
      prepared_, case_index, baseline_[case_index], outputs_[case_index].get(), block);
  return launched && clocks_agree(*launched->timing);
}

void TimingSession::inspected(CaseRecord& record, Launched& launched) {
  record.deterministic = launched.deterministic;
  record.timeline = std::move(launched.timeline);
  use_reported_names(record.timeline, run_.verdict().kernels);
  record.own_share = own_share(record.timeline);
  // Kernels are listed for the case with the most traffic.
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
  if (baseline_.empty() || auxiliary_.failed()) return;
  run_.enter(Stage::baseline);
  for (int i = 0; i < kClockTries; ++i) {
    std::optional<Launched> launched =
        oracle_.launch(prepared_, case_index, baseline_[case_index], outputs_[case_index].get(),
                       block, into.chosen());
    if (!launched) return;
    if (!clocks_agree(*launched->timing)) continue;
    into.add(std::move(*launched));
    return;
  }
  run_.verdict().hints.push_back(
      {HintKind::oracle_block_missing, "",
       "a block of the oracle's samples is missing: the clocks disagreed, as when another program "
       "uses this GPU"});
}

void TimingSession::time_pytorch(std::size_t i, std::vector<double>& into) {
  run_.enter(Stage::baseline);
  const std::string& id = prepared_.cases[i].id;
  const Result<std::vector<double>> samples = parts_.judge.time_reference(
      run_.job().id, id, run_.deadline(run_.job().limits.judge_wall_ms));
  if (samples) {
    into.insert(into.end(), samples->begin(), samples->end());
    return;
  }
  add_hint(run_.verdict(),
           {HintKind::pytorch_not_timed, id, "PyTorch was not timed: " + samples.error().message});
}

bool TimingSession::still_right(CaseRecord& record, const Launched& launched, int output) {
  run_.enter(Stage::recheck);
  const Result<Compared> again =
      parts_.judge.compare(run_.job().id, record.id, launched.outputs, output,
                           run_.deadline(run_.job().limits.judge_wall_ms));
  if (!again)
    return run_.fail_infrastructure(again.error(),
                                    "judging the timed output of case '" + record.id + "'");
  if (again->kind == ErrorKind::none) return true;
  record.outcome = Outcome::fail;
  record.reason = "right at first, wrong when it was timed: " + again->record.reason;
  record.max_abs_error = again->record.max_abs_error;
  record.mismatches = again->record.mismatches;
  record.first_mismatch = again->record.first_mismatch;
  run_.verdict().error_kind = again->kind;
  run_.verdict().outcome = Outcome::fail;
  return false;
}

bool TimingSession::above_floor(CaseRecord& record) {
  const std::optional<Floor> floor =
      physics_floor(parts_.facts, record.cost_bytes, record.cost_flops);
  if (!floor || !record.latency) return true;
  record.floor_ns = floor->expected_ns;
  if (record.latency->median_ns >= kFloorTolerance * floor->possible_ns) return true;
  return run_.fail(ErrorKind::floor_violation,
                   "case '" + record.id + "' took " + std::to_string(record.latency->median_ns) +
                       " ns, below the " + std::to_string(floor->possible_ns) +
                       " ns that its work needs");
}

}  // namespace assay::sandbox
