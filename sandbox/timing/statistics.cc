#include "sandbox/timing/statistics.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>

namespace assay::sandbox {
namespace {

// A median is precise enough if half of the width of its 95 % interval is at most this share of the
// median. A limit half as large did not make ratios of medians more reproducible.
constexpr double kSteady = 0.01;
// A median is also precise enough if half of the width of its interval is at most this time, in
// nanoseconds. The device's timer has ticks of 32 ns, so no measurement has a finer resolution. The
// limit is half of a tick plus rounding.
constexpr double kSteadyNs = 17;
// The minimum time by the host's clock, as a share of the time by the device's clock.
constexpr double kClockTolerance = 0.9;
// The upper limit of the time by the host's clock is kMostHostFactor times the device's time, plus
// kMostHostNs, plus kMostHostNsPerLaunch for each launch. In 1,010 series of correct kernels on an
// H200, the host's time was at most 1.5 times the device's time plus 9,300 ns (timing-h200.json,
// perf-h200.json, oracles-h200.json).
constexpr double kMostHostFactor = 1.5;
constexpr double kMostHostNs = 50'000;
constexpr double kMostHostNsPerLaunch = 5'000;
// The upper limit of the time of warm runs is this multiple of the time of cold runs, plus
// kMostWarmSlackNs. In the 1,010 series on an H200, warm runs took at most 1.011 times as long as
// cold runs.
constexpr double kMostWarmFactor = 1.25;
constexpr double kMostWarmSlackNs = 5'000;
// The upper limit of the time of fresh samples is this multiple of the time of cold runs, plus
// kMostFreshSlackNs, plus kMostFreshNsPerLaunch for each launch. The slack is needed because after
// a module is loaded, the GPU fetches the instructions of the next kernels again. In 73 series
// of oracles on an H200, fresh samples took at most 1.043 times as long as cold samples
// (fresh-samples-h200.json).
constexpr double kMostFreshFactor = 1.05;
constexpr double kMostFreshSlackNs = 500;
constexpr double kMostFreshNsPerLaunch = 500;
// The upper limit of the overhead of the timer's marks. In the 1,010 series on an H200, the
// overhead was at most 4,406 ns.
constexpr double kMostOverheadNs = 6'000;
// The upper limit of a measured clock rate, as a multiple of the device's highest clock rate. In
// the 1,010 series on an H200, the greatest multiple was 1.001. In series on an H100, the greatest
// multiple was 1.008.
constexpr double kMostClockFactor = 1.03;
// An oracle's block is throttled if its clock rate is below this share of the highest clock rate of
// the oracle's blocks.
constexpr double kThrottledShare = 0.97;
// The minimum number of first runs on new inputs. The median of fewer first runs would be mostly
// noise.
constexpr std::size_t kLeastFirstRuns = 3;
// First runs are slow if they take more than this multiple of the median of all samples and of the
// median of the fresh samples, and also kFirstRunSlackNs longer than both medians. The slack is
// needed because the clock's noise is large in very short runs.
constexpr double kFirstRunFactor = 1.1;
constexpr double kFirstRunSlackNs = 300;

template <class Counts>
double total(const std::vector<OperationTime>& timeline, Counts counts) {
  double ns = 0;
  for (const OperationTime& one : timeline) ns += counts(one) ? one.ns : 0;
  return ns;
}

double everything(const std::vector<OperationTime>& timeline) {
  return total(timeline, [](const OperationTime&) { return true; });
}

}  // namespace

Timing timing_of(const LaunchSamples& samples) {
  const MedianInterval interval = median_interval(samples.cold_ns);
  Timing timing;
  timing.median_ns = interval.median;
  timing.low_ns = interval.low;
  timing.high_ns = interval.high;
  timing.samples_ns = samples.cold_ns;
  timing.warm_ns = median_interval(samples.warm_ns).median;
  timing.first_run_ns = samples.first_run_ns.value_or(0);
  timing.wall_ns = median_interval(samples.wall_ns).median;
  timing.fresh_ns = samples.fresh_ns.empty() ? 0 : median_interval(samples.fresh_ns).median;
  timing.overhead_ns = samples.overhead_ns;
  timing.clock_mhz = samples.clock_mhz;
  timing.discarded = samples.discarded;
  return timing;
}

TimingDoubt doubt_about(const Timing& block, const BlockFacts& facts) {
  if (facts.simulated) return TimingDoubt::none;
  if (block.clock_mhz <= 0 || block.wall_ns <= 0 || block.warm_ns <= 0 || block.fresh_ns <= 0)
    return TimingDoubt::no_clock;
  if (facts.peak_mhz > 0 && block.clock_mhz > kMostClockFactor * facts.peak_mhz)
    return TimingDoubt::impossible_clock;
  const double device_ns = median_interval(block.samples_ns).median;
  if (block.wall_ns < kClockTolerance * device_ns) return TimingDoubt::host_below_device;
  if (block.wall_ns > kMostHostFactor * device_ns + kMostHostNs +
                          kMostHostNsPerLaunch * static_cast<double>(facts.launches))
    return TimingDoubt::host_above_device;
  if (block.warm_ns > kMostWarmFactor * device_ns + kMostWarmSlackNs)
    return TimingDoubt::warm_above_cold;
  if (block.fresh_ns > kMostFreshFactor * device_ns + kMostFreshSlackNs +
                           kMostFreshNsPerLaunch * static_cast<double>(facts.launches))
    return TimingDoubt::fresh_above_cold;
  if (block.overhead_ns > kMostOverheadNs) return TimingDoubt::slow_marks;
  return TimingDoubt::none;
}

bool wants_fresh_samples_only(TimingDoubt doubt, int attempt) {
  return doubt == TimingDoubt::fresh_above_cold && attempt > 0;
}

std::string describe(TimingDoubt doubt, const Timing& block) {
  const auto ns = [](double value) { return std::to_string(std::llround(value)) + " ns"; };
  const std::string device =
      ns(median_interval(block.samples_ns).median) + " by the device's clock";
  switch (doubt) {
    case TimingDoubt::none: return "no doubt";
    case TimingDoubt::no_clock:
      return "the device's clock, the host's time, or the fresh samples were not measured";
    case TimingDoubt::impossible_clock:
      return "a clock of " + std::to_string(std::llround(block.clock_mhz)) +
             " MHz, which the device does not have";
    case TimingDoubt::host_below_device:
    case TimingDoubt::host_above_device:
      return device + ", " + ns(block.wall_ns) + " by the host's";
    case TimingDoubt::warm_above_cold:
      return device + " with cold caches, " + ns(block.warm_ns) + " with warm caches";
    case TimingDoubt::fresh_above_cold:
      return device + ", " + ns(block.fresh_ns) + " after the launcher loaded its kernels again";
    case TimingDoubt::slow_marks:
      return "the timer's marks took " + ns(block.overhead_ns) + " themselves";
  }
  return "unknown";
}

Timing eager_timing(std::vector<double> samples_ns) {
  const MedianInterval interval = median_interval(samples_ns);
  return {.median_ns = interval.median,
          .low_ns = interval.low,
          .high_ns = interval.high,
          .samples_ns = std::move(samples_ns)};
}

Timing without_overhead(Timing timing, double overhead_ns) {
  const auto subtract = [&](double& ns) { ns = std::max(0.0, ns - overhead_ns); };
  for (double* const ns : {&timing.median_ns, &timing.low_ns, &timing.high_ns}) subtract(*ns);
  for (double& ns : timing.samples_ns) subtract(ns);
  timing.overhead_ns = overhead_ns;
  return timing;
}

bool blocks_agree(const std::vector<double>& one_ns, const std::vector<double>& other_ns) {
  const double one = median_interval(one_ns).median, other = median_interval(other_ns).median;
  return std::min(one, other) > 0 &&
         std::max(one, other) <= kAgreeingBlocksFactor * std::min(one, other);
}

bool is_throttled(const Timing& block, double highest_mhz) {
  return block.clock_mhz > 0 && block.clock_mhz < kThrottledShare * highest_mhz;
}

bool known_well_enough(const MedianInterval& interval) {
  return interval.relative_half_width() <= kSteady ||
         (interval.high - interval.low) / 2 <= kSteadyNs;
}

std::int64_t samples_needed(const MedianInterval& interval, std::size_t taken) {
  const double half_width = (interval.high - interval.low) / 2;
  const double wider = half_width / std::max(kSteady * interval.median, kSteadyNs);
  return std::llround(std::ceil(static_cast<double>(taken) * wider * wider));
}

bool first_runs_are_slow(const Timing& timing) {
  // The slack of doubt_about() for each launch does not count here: it would let a submission of
  // many short launches keep much of its work.
  const double fresh_ns =
      std::min(timing.fresh_ns, kMostFreshFactor * timing.median_ns + kMostFreshSlackNs);
  const double later_ns = std::max(timing.median_ns, fresh_ns);
  return timing.first_run_ns > kFirstRunFactor * later_ns &&
         timing.first_run_ns > later_ns + kFirstRunSlackNs;
}

bool confirm_first_runs(const std::function<bool()>& in_doubt,
                        const std::function<bool()>& take_block) {
  for (int more = 0; more < kConfirmingBlocks && in_doubt(); ++more) {
    if (!take_block()) return false;
  }
  return true;
}

void Samples::add(const Timing& block, std::vector<std::int64_t> chosen, bool renewed) {
  all_.samples_ns.insert(all_.samples_ns.end(), block.samples_ns.begin(), block.samples_ns.end());
  all_.discarded += block.discarded;
  warm_.push_back(block.warm_ns);
  wall_.push_back(block.wall_ns);
  fresh_.push_back(block.fresh_ns);
  clock_.push_back(block.clock_mhz);
  overhead_.push_back(block.overhead_ns);
  chosen_ = std::move(chosen);
  renewed_ += renewed ? 1 : 0;
  if (renewed && block.first_run_ns > 0) first_.push_back(block.first_run_ns);
}

std::int64_t Samples::missing() const {
  const std::size_t taken = all_.samples_ns.size();
  return std::max<std::int64_t>(0, samples_needed(median_interval(all_.samples_ns), taken) -
                                       static_cast<std::int64_t>(taken));
}

bool Samples::lacks_first_runs() const { return renewed_ > 0 && first_.size() < kLeastFirstRuns; }

Timing Samples::timing() const {
  Timing timing = all_;
  const MedianInterval interval = median_interval(all_.samples_ns);
  timing.median_ns = interval.median;
  timing.low_ns = interval.low;
  timing.high_ns = interval.high;
  timing.warm_ns = median_interval(warm_).median;
  timing.first_run_ns = first_.size() < kLeastFirstRuns ? 0 : median_interval(first_).median;
  timing.wall_ns = median_interval(wall_).median;
  timing.fresh_ns = median_interval(fresh_).median;
  timing.overhead_ns = median_interval(overhead_).median;
  timing.clock_mhz = median_interval(clock_).median;
  return timing;
}

std::optional<double> own_share(const std::vector<OperationTime>& timeline) {
  const double all = everything(timeline);
  if (all <= 0) return std::nullopt;
  return total(timeline, [](const OperationTime& one) { return one.submitted; }) / all;
}

void use_reported_names(std::vector<OperationTime>& timeline,
                        const std::vector<KernelReport>& kernels) {
  for (OperationTime& one : timeline) {
    const auto kernel = std::find_if(
        kernels.begin(), kernels.end(),
        [&](const KernelReport& report) { return one.submitted && report.symbol == one.name; });
    if (kernel != kernels.end()) one.name = kernel->name;
  }
}

void add_time_shares(std::vector<KernelReport>& kernels,
                     const std::vector<OperationTime>& timeline) {
  const double all = everything(timeline);
  if (all <= 0) return;
  for (KernelReport& kernel : kernels) {
    kernel.gpu_time_share =
        total(timeline,
              [&](const OperationTime& one) { return one.submitted && one.name == kernel.name; }) /
        all;
  }
}

}  // namespace assay::sandbox
