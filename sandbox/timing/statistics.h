// Statistics of measured times: the medians of a series, whether they are precise enough and can be
// trusted, and which kernels took the GPU's time.
//
//   Samples samples;
//   samples.add(timing_of(*launched.samples), launched.chosen);
//   if (samples.steady()) record.latency = samples.timing();
//   record.own_share = own_share(record.timeline);
//
// Functions are pure. A Samples belongs to one thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/median.h"
#include "sandbox/job/job.h"
#include "sandbox/wire/launched.h"

namespace assay::sandbox {

/// Returns the medians of one timed launch.
Timing timing_of(const LaunchSamples& samples);

/// Returns true if the host's time is at least the device's time, within a tenth. When another
/// program uses the GPU in the middle of most samples, the device's times are too long, but the few
/// times by the host are not. True for a simulated device, whose times are invented.
/// A reason not to trust the times of a block.
enum class TimingDoubt {
  none,
  no_clock,           // the clock of the multiprocessors or the host's time was not measured
  impossible_clock,   // the clock is above the highest clock of the device
  host_below_device,  // another program used the GPU in the middle of most samples
  host_above_device,  // the device worked outside of the timer's marks, or a mark was moved
  warm_above_cold,    // the plan does more work in the runs that are not ranked
  slow_marks,         // something else delayed the kernel of known duration
};

/// Facts about a block that do not come from its times.
struct BlockFacts {
  bool simulated = false;     // a simulated device invents its times, so none is in doubt
  std::int64_t launches = 1;  // operations that the host queues in one run
  double peak_mhz = 0;        // the highest clock of the device; 0: unknown
};

/// Compares the times of a block with each other. Code of a submission runs in the process that
/// measures, so a time that contradicts another time must not be ranked.
TimingDoubt doubt_about(const Timing& block, const BlockFacts& facts);

/// Says which times contradict each other, in a sentence without a subject.
std::string describe(TimingDoubt doubt, const Timing& block);

/// Returns true if the clock of an oracle's block is clearly below `highest_mhz`, the highest clock
/// of this oracle's blocks in the series: the GPU was hot or throttled, so the block would flatter
/// the submission. False if one of the clocks is unknown (0).
bool is_throttled(const Timing& block, double highest_mhz);

/// Returns true if a median is precise enough: its 95 % interval is narrow, or as narrow as the
/// resolution of the device's timer.
bool known_well_enough(const MedianInterval& interval);

/// Returns true if the first run on new inputs takes longer than later runs on the same inputs, by
/// more than kFirstRunFactor and kFirstRunSlackNs. False if the first runs are unknown.
bool first_runs_are_slow(const Timing& timing);

/// The most blocks that confirm_first_runs() takes: noise in three first runs disappears in
/// nineteen.
inline constexpr int kConfirmingBlocks = 16;
/// Takes more blocks while `in_doubt` says that first runs are slow or unknown. Returns false when
/// a block could not be taken.
bool confirm_first_runs(const std::function<bool()>& in_doubt,
                        const std::function<bool()>& take_block);

/// The samples of a submission or of its oracle, collected block by block.
class Samples {
 public:
  /// Adds a block. `chosen` are the alternatives of the plan's tunables. `renewed` says that the
  /// block had new inputs, so that its first run can be known.
  void add(const Timing& block, std::vector<std::int64_t> chosen, bool renewed = false);
  bool empty() const { return all_.samples_ns.empty(); }
  bool steady() const { return empty() || known_well_enough(median_interval(all_.samples_ns)); }
  /// Returns the chosen alternative of each tunable; empty before the first block.
  const std::vector<std::int64_t>& chosen() const { return chosen_; }
  Timing timing() const;
  /// Returns true if there were new inputs, but too few first runs on them are known.
  bool lacks_first_runs() const;

 private:
  Timing all_;
  std::vector<double> warm_, wall_, clock_, overhead_, first_;
  std::vector<std::int64_t> chosen_;
  std::size_t renewed_ = 0;  // blocks with new inputs
};

/// Returns the share of the submission's kernels in the timeline, 0 to 1; nothing without a
/// timeline.
std::optional<double> own_share(const std::vector<OperationTime>& timeline);

/// Gives the timeline's kernels the names of the reports. A kernel of C++ has another name in its
/// image.
void use_reported_names(std::vector<OperationTime>& timeline,
                        const std::vector<KernelReport>& kernels);

/// Sets each kernel's share of the timeline, by name. `kernels` are those of the timeline's case.
void add_time_shares(std::vector<KernelReport>& kernels,
                     const std::vector<OperationTime>& timeline);

}  // namespace assay::sandbox
