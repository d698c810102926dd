#include "sandbox/timing/statistics.h"

#include <algorithm>
#include <cstddef>
#include <utility>

namespace assay::sandbox {
namespace {

// A median is precise enough if half of its 95 % interval is at most this share. A limit of half of
// that did not make ratios repeat better.
constexpr double kSteady = 0.01;
// It is also precise enough if half of the interval is at most this time: half of a tick of the
// device's timer (32 ns) and rounding. No measurement resolves less.
constexpr double kSteadyNs = 17;
// The least share of the device's time that the host's clock has to show.
constexpr double kClockTolerance = 0.9;
// With fewer first runs their median is noise.
constexpr std::size_t kLeastFirstRuns = 3;
// First runs are slow above this multiple of the median of all samples, if they are slower by more
// than the slack: in very short runs the noise of the clock is large.
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
  timing.overhead_ns = samples.overhead_ns;
  timing.clock_mhz = samples.clock_mhz;
  timing.discarded = samples.discarded;
  return timing;
}

bool clocks_agree(const Timing& block) {
  const bool real = block.clock_mhz > 0;  // a simulated device has no clock
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

void Samples::add(const Timing& block, std::vector<std::int64_t> chosen) {
  all_.samples_ns.insert(all_.samples_ns.end(), block.samples_ns.begin(), block.samples_ns.end());
  all_.discarded += block.discarded;
  warm_.push_back(block.warm_ns);
  wall_.push_back(block.wall_ns);
  clock_.push_back(block.clock_mhz);
  overhead_.push_back(block.overhead_ns);
  chosen_ = std::move(chosen);
  if (block.first_run_ns > 0) first_.push_back(block.first_run_ns);
}

Timing Samples::timing() const {
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
