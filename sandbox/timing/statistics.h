// Computes statistics of measured times: the medians of a series, whether they are precise enough
// and can be trusted, and which kernels used the GPU's time.
//
//   Samples samples;
//   samples.add(timing_of(*launched.samples), launched.chosen);
//   if (samples.steady()) record.latency = samples.timing();
//   record.own_share = own_share(record.timeline);
//
// The functions are pure. Each Samples object belongs to one thread.
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

/// A reason not to trust the times of a block.
enum class TimingDoubt {
  none,
  // The clock of the multiprocessors, or the time by the host's clock, was not measured.
  no_clock,
  impossible_clock,   // the measured clock is above the highest clock of the device
  host_below_device,  // another program used the GPU in the middle of most samples
  host_above_device,  // the device worked outside of the timer's marks, or a mark was moved
  // Samples took longer when the launcher had loaded its own kernels again. So code of the
  // submission may have changed these kernels.
  fresh_above_cold,
  warm_above_cold,  // warm runs, which do not count for Perf, took longer than cold runs
  // The timer's marks took too long around a kernel of known duration. Their overhead is subtracted
  // from every sample, so the samples may be too short.
  slow_marks,
};

/// Facts about a block of samples that are not computed from the samples' times.
struct BlockFacts {
  bool simulated = false;     // a simulated device invents its times, so no time is in doubt
  std::int64_t launches = 1;  // operations that the host queues in one run
  double peak_mhz = 0;        // the highest clock of the device; 0 if unknown
};

/// Compares the times of a block with each other. Code of the submission runs in the same process
/// as the measurement, so it could falsify a time. A time that contradicts another time must not
/// count for Perf.
TimingDoubt doubt_about(const Timing& block, const BlockFacts& facts);

/// Returns true if a series has to begin again with fresh samples only, after this doubt about a
/// block. Its fresh samples take longer than the others, and one such block may be noise. `attempt`
/// is the number of blocks before it whose times were in doubt.
bool wants_fresh_samples_only(TimingDoubt doubt, int attempt);

/// Returns a phrase for use inside a message. The phrase says which times contradict each other,
/// for example "900 ns by the device's clock, 400 ns by the host's".
std::string describe(TimingDoubt doubt, const Timing& block);

/// Returns the time of PyTorch eager from the samples of a series. They contain the overhead of the
/// timer's marks. There is no clock, and no time with warm caches.
Timing eager_timing(std::vector<double> samples_ns);

/// Subtracts the overhead of the timer's marks from a time that contains it. No time becomes
/// negative.
Timing without_overhead(Timing timing, double overhead_ns);

/// Returns true if the medians of two blocks of the same work differ by at most
/// kAgreeingBlocksFactor. Then no other program disturbs the GPU.
bool blocks_agree(const std::vector<double>& one_ns, const std::vector<double>& other_ns);
inline constexpr double kAgreeingBlocksFactor = 1.05;

/// Returns true if the clock of an oracle's block is clearly below `highest_mhz`, the highest clock
/// of this oracle's blocks in the series. The GPU was then hot or throttled, and the block would
/// make the submission look faster than it is. Returns false if one of the two clocks is unknown
/// (0).
bool is_throttled(const Timing& block, double highest_mhz);

/// Returns true if a median is precise enough: its 95 % interval is narrow, or as narrow as the
/// resolution of the device's timer.
bool known_well_enough(const MedianInterval& interval);

/// Returns how many samples are probably needed until the median is known well enough, if `taken`
/// samples gave this interval: its width shrinks with the square root of their number.
std::int64_t samples_needed(const MedianInterval& interval, std::size_t taken);

/// Returns true if the first run on new inputs takes longer than later runs on the same inputs, by
/// more than kFirstRunFactor and kFirstRunSlackNs. The later runs are all samples, and the fresh
/// samples: like them, a first run comes right after the launcher's kernels were loaded again.
/// Returns false if the first runs were not measured.
bool first_runs_are_slow(const Timing& timing);

/// The maximum number of blocks that confirm_first_runs() takes. Three first runs can look slow by
/// chance, but nineteen first runs do not.
inline constexpr int kConfirmingBlocks = 16;
/// Takes more blocks as long as `in_doubt` returns true, but at most kConfirmingBlocks. `in_doubt`
/// returns true if the first runs are slow or unknown. Returns false if a block could not be taken.
bool confirm_first_runs(const std::function<bool()>& in_doubt,
                        const std::function<bool()>& take_block);

/// The samples of a submission or of its oracle, collected block by block.
class Samples {
 public:
  /// Adds a block. `chosen` are the chosen alternatives (autotuner configurations) of the plan's
  /// tunables. `renewed` is true if the block had new inputs, so that its first run can be
  /// measured.
  void add(const Timing& block, std::vector<std::int64_t> chosen, bool renewed = false);
  bool empty() const { return all_.samples_ns.empty(); }
  bool steady() const { return empty() || known_well_enough(median_interval(all_.samples_ns)); }
  /// Returns how many more samples are probably needed until the median is known well enough.
  std::int64_t missing() const;
  /// Returns, for each tunable of the plan, the index of the alternative (autotuner configuration)
  /// that the last added block used. The list is empty until add() is called.
  const std::vector<std::int64_t>& chosen() const { return chosen_; }
  Timing timing() const;
  /// Returns true if blocks had new inputs, but too few first runs on these inputs were measured.
  bool lacks_first_runs() const;

 private:
  Timing all_;
  std::vector<double> warm_, wall_, fresh_, clock_, overhead_, first_;
  std::vector<std::int64_t> chosen_;
  std::size_t renewed_ = 0;  // number of blocks with new inputs
};

/// Returns the share of the timeline, from 0 to 1, that the submission's kernels take. Returns
/// nothing if there is no timeline.
std::optional<double> own_share(const std::vector<OperationTime>& timeline);

/// Replaces the kernel names in the timeline by the names in the reports. The name of a CUDA C++
/// kernel in its binary differs from its name in the report.
void use_reported_names(std::vector<OperationTime>& timeline,
                        const std::vector<KernelReport>& kernels);

/// Sets each kernel's share of the timeline. Kernels are matched by name. `kernels` and `timeline`
/// must belong to the same case.
void add_time_shares(std::vector<KernelReport>& kernels,
                     const std::vector<OperationTime>& timeline);

}  // namespace assay::sandbox
