#include "sandbox/launcher/timing/timing.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <utility>

#include "base/median.h"

namespace assay::sandbox {
namespace {

// The number of runs that are discarded before samples. One is enough if it takes at least
// kOneWarmUpNs: its instructions are in the caches then, and the clocks have risen during the run.
constexpr std::int64_t kWarmUpSamples = 3;
constexpr double kOneWarmUpNs = 1'000'000;
// The numbers of samples of the marks' overhead. A few samples tell it to about 0.1 us. This is
// enough for runs of at least kLongRunNs, and for the times with warm caches, which rank nothing.
constexpr int kOverheadSamples = 25, kFewOverheadSamples = 9;
constexpr double kLongRunNs = 40'000;
// A cold sample is discarded if its clock rate is below this share of the median clock rate. The
// GPU was throttled during such a sample.
constexpr double kSlowClock = 0.97;
constexpr std::int64_t kNsPerMs = 1'000'000;
// The number of bytes written to flush the L2 cache, as a multiple of the cache's size.
constexpr std::uint64_t kFlushPerL2 = 2;
// The minimum number of bytes to write, for a device that does not report the size of its L2 cache.
constexpr std::uint64_t kMinFlushBytes = 1 << 20;

/// Unblocks the stream at the end of the scope. If the stream stayed blocked, every later wait
/// would last forever.
class UnblockAtEnd {
 public:
  explicit UnblockAtEnd(GpuDriver& gpu) : gpu_(gpu) {}
  UnblockAtEnd(const UnblockAtEnd&) = delete;
  UnblockAtEnd& operator=(const UnblockAtEnd&) = delete;
  ~UnblockAtEnd() { gpu_.unblock_stream(); }

 private:
  GpuDriver& gpu_;
};

/// Takes one series of samples. Contains the state of take_samples().
class Series {
 public:
  Series(GpuDriver& gpu, const TimingRules& rules, const TimedWork& work, const Clock& clock)
      : gpu_(gpu), rules_(rules), work_(work), clock_(clock), cold_(gpu), begin_(0) {}

  LaunchResult<LaunchSamples> run() {
    if (LaunchStatus s = cold_.open(); !s) return tl::unexpected(s.error());
    if (LaunchStatus s = work_.prepare(); !s) return tl::unexpected(s.error());
    if (work_.stage_next_inputs) {
      if (LaunchStatus s = work_.stage_next_inputs(); !s) return tl::unexpected(s.error());
    }
    begin_ = clock_.monotonic_ns();
    if (LaunchStatus s = warm_up(); !s) return tl::unexpected(s.error());
    // The submission has run, so it may have changed the kernels that measure the overheads.
    if (LaunchStatus s = refresh(); !s) return tl::unexpected(s.error());
    if (LaunchStatus s = find_overheads(); !s) return tl::unexpected(s.error());
    if (work_.stage_next_inputs) {
      if (LaunchStatus s = discard_a_few(); !s) return tl::unexpected(s.error());
      // These runs may have changed the kernels that unmask the new inputs and copy them before the
      // first sample. A changed kernel could compute the answers there, where nothing is timed.
      if (LaunchStatus s = refresh(); !s) return tl::unexpected(s.error());
    }
    // The inputs are swapped after the warm-up. So a kernel that keeps results from run to run has
    // no results for the new inputs. The kernel's instructions are already in the caches at the
    // first run on the new inputs, as they are at later runs.
    LaunchResult<bool> unseen =
        work_.stage_next_inputs ? work_.swap_inputs() : LaunchResult<bool>(false);
    if (!unseen) return tl::unexpected(unseen.error());
    if (LaunchStatus s = take_cold(); !s) return tl::unexpected(s.error());
    if (*unseen) samples_.first_run_ns = samples_.cold_ns.front();
    discard_slow_clocks();
    if (LaunchStatus s = take_fresh(); !s) return tl::unexpected(s.error());
    // The loop takes at least one warm sample and one sample by the host's clock, because the
    // supervisor compares the cold samples with these samples (doubt_about() in
    // sandbox/timing/statistics.cc).
    for (std::int64_t i = 0; i < rules_.side_samples && (i == 0 || elapsed() < budget()); ++i) {
      if (LaunchStatus s = take_warm(); !s) return tl::unexpected(s.error());
      if (LaunchStatus s = take_wall(); !s) return tl::unexpected(s.error());
    }
    return std::move(samples_);
  }

 private:
  std::int64_t elapsed() const { return clock_.monotonic_ns() - begin_; }
  std::int64_t budget() const { return rules_.max_time_ms * kNsPerMs; }

  LaunchStatus warm_up() {
    if (LaunchStatus s = discard_a_few(); !s) return s;
    const std::int64_t wanted = rules_.warm_up_ms * kNsPerMs;
    while (elapsed() < wanted && elapsed() < budget() / 4) {
      if (LaunchResult<double> discarded = cold(); !discarded)
        return tl::unexpected(discarded.error());
    }
    clocks_.clear();
    return {};
  }

  LaunchStatus discard_a_few() {
    const auto wants_more = [&] { return shortest_ns_ < kOneWarmUpNs && elapsed() < budget() / 4; };
    for (std::int64_t i = 0; i < kWarmUpSamples && (i == 0 || wants_more()); ++i) {
      if (LaunchResult<double> discarded = cold(); !discarded)
        return tl::unexpected(discarded.error());
    }
    clocks_.clear();
    return {};
  }

  LaunchStatus find_overheads() {
    if (!work_.touch) return {};
    LaunchResult<double> cold = overhead(true), warm = overhead(false);
    if (!cold || !warm) return tl::unexpected(cold ? warm.error() : cold.error());
    samples_.overhead_ns = *cold;
    warm_overhead_ns_ = *warm;
    return {};
  }

  /// Measures the overhead of the timer's marks. The overhead is the time between two marks around
  /// a kernel of known duration, minus that duration. So the overhead includes the time until the
  /// kernel's writes are complete.
  LaunchResult<double> overhead(bool flushed) {
    const int count = flushed && shortest_ns_ < kLongRunNs ? kOverheadSamples : kFewOverheadSamples;
    std::vector<double> samples;
    for (int i = 0; i < count; ++i) {
      if (flushed) {
        if (LaunchStatus s = cold_.flush(work_); !s) return tl::unexpected(s.error());
      }
      if (LaunchStatus s = queue_timed(gpu_, 1, work_.touch); !s) return tl::unexpected(s.error());
      if (LaunchStatus s = gpu_.synchronize(); !s) return tl::unexpected(s.error());
      LaunchResult<double> ns = gpu_.elapsed_ns();
      if (!ns) return ns;
      samples.push_back(*ns);
    }
    return std::max(0.0, interquartile_mean(samples) - (flushed ? kTouchColdNs : kTouchWarmNs));
  }

  static double without(double overhead_ns, double ns) {
    return std::max(kLeastNs, ns - overhead_ns);
  }

  LaunchStatus take_cold() {
    std::vector<double>& samples = samples_.cold_ns;
    std::int64_t next_look =
        std::max<std::int64_t>(rules_.min_samples, static_cast<std::int64_t>(kMinIntervalSamples));
    while (true) {
      if (LaunchStatus s = rules_.all_fresh ? refresh() : LaunchStatus(); !s) return s;
      LaunchResult<double> sample = cold();
      if (!sample) return tl::unexpected(sample.error());
      samples.push_back(without(samples_.overhead_ns, *sample));
      const auto taken = static_cast<std::int64_t>(samples.size());
      bool is_last = taken >= rules_.max_samples || elapsed() >= budget();
      if (!is_last && taken >= next_look) {
        const MedianInterval interval = median_interval(at_full_clock());
        is_last = interval.relative_half_width() <= rules_.relative_half_width;
        next_look = taken + std::max<std::int64_t>(8, taken / 8);
      }
      const LaunchResult<bool> disturbed = sampled(SampleKind::cold, taken - 1, is_last);
      if (!disturbed) return tl::unexpected(disturbed.error());
      if (*disturbed) {
        if (LaunchStatus s = discard_one(); !s) return s;
      }
      if (is_last) return {};
    }
  }

  LaunchStatus refresh() {
    if (!work_.refresh) return {};
    if (LaunchStatus s = gpu_.synchronize(); !s) return s;
    return work_.refresh();
  }

  /// Takes at least one fresh sample, because the supervisor compares the cold samples with the
  /// fresh ones. The kernels are loaded again before each sample, because the submission has run
  /// since.
  LaunchStatus take_fresh() {
    if (!work_.refresh || rules_.fresh_samples <= 0) return {};
    bool is_last = false;
    for (std::int64_t i = 0; !is_last; ++i) {
      if (LaunchStatus s = refresh(); !s) return s;
      LaunchResult<double> sample = cold();
      if (!sample) return tl::unexpected(sample.error());
      samples_.fresh_ns.push_back(without(samples_.overhead_ns, *sample));
      is_last = i + 1 >= rules_.fresh_samples || elapsed() >= budget();
      const LaunchResult<bool> disturbed = sampled(SampleKind::fresh, i, is_last);
      if (!disturbed) return tl::unexpected(disturbed.error());
      if (*disturbed) {
        if (LaunchStatus s = discard_one(); !s) return s;
      }
    }
    return {};
  }

  LaunchResult<bool> sampled(SampleKind kind, std::int64_t index, bool is_last) {
    return work_.sampled ? work_.sampled(kind, index, is_last) : LaunchResult<bool>(false);
  }

  /// Discards a run after a pause, unless the pause makes no difference: to a long run, and if the
  /// kernels are loaded again before each sample. The clock of this run belongs to no sample.
  LaunchStatus discard_one() {
    if (rules_.all_fresh || shortest_ns_ >= kOneWarmUpNs) return {};
    const std::size_t clocks = clocks_.size();
    if (LaunchResult<double> discarded = cold(); !discarded)
      return tl::unexpected(discarded.error());
    clocks_.resize(clocks);
    return {};
  }

  LaunchResult<double> timed() {
    if (LaunchStatus s = queue_timed(gpu_, work_.operations, work_.enqueue); !s)
      return tl::unexpected(s.error());
    if (work_.read_clock) {
      if (LaunchStatus s = work_.read_clock(); !s) return tl::unexpected(s.error());
    }
    if (LaunchStatus s = gpu_.synchronize(); !s) return tl::unexpected(s.error());
    return gpu_.elapsed_ns();
  }

  LaunchResult<double> cold() {
    if (LaunchStatus s = cold_.make(work_); !s) return tl::unexpected(s.error());
    LaunchResult<double> ns = timed();
    if (ns) shortest_ns_ = std::min(shortest_ns_, *ns);
    if (!ns || !work_.clock_mhz) return ns;
    LaunchResult<double> mhz = work_.clock_mhz();
    if (!mhz) return mhz;
    clocks_.push_back(*mhz);
    return ns;
  }

  /// Takes a sample with warm caches. An untimed run warms the caches. Then the buffers are
  /// restored, because the untimed run may have changed its inputs. So the caches also contain data
  /// from this restoring.
  LaunchStatus take_warm() {
    if (LaunchStatus s = work_.restore(); !s) return s;
    if (LaunchStatus s = work_.enqueue(); !s) return s;
    if (LaunchStatus s = work_.restore(); !s) return s;
    if (LaunchStatus s = gpu_.synchronize(); !s) return s;
    LaunchResult<double> ns = timed();
    if (!ns) return tl::unexpected(ns.error());
    samples_.warm_ns.push_back(without(warm_overhead_ns_, *ns));
    return {};
  }

  LaunchStatus take_wall() {
    if (LaunchStatus s = rules_.all_fresh ? refresh() : LaunchStatus(); !s) return s;
    if (LaunchStatus s = cold_.make(work_); !s) return s;
    const std::int64_t start = clock_.monotonic_ns();
    if (LaunchStatus s = work_.enqueue(); !s) return s;
    if (LaunchStatus s = gpu_.synchronize(); !s) return s;
    samples_.wall_ns.push_back(static_cast<double>(clock_.monotonic_ns() - start));
    return {};
  }

  /// Returns the cold samples that were not taken at a low clock rate. Returns all cold samples if
  /// the clock is not measured.
  std::vector<double> at_full_clock() const {
    if (clocks_.empty() || clocks_.size() != samples_.cold_ns.size()) return samples_.cold_ns;
    const double lowest = kSlowClock * median_interval(clocks_).median;
    std::vector<double> kept;
    for (std::size_t i = 0; i < clocks_.size(); ++i) {
      if (clocks_[i] >= lowest) kept.push_back(samples_.cold_ns[i]);
    }
    return kept;
  }

  void discard_slow_clocks() {
    if (clocks_.size() != samples_.cold_ns.size()) return;
    samples_.clock_mhz = median_interval(clocks_).median;
    if (clocks_.front() < kSlowClock * samples_.clock_mhz) samples_.first_run_ns.reset();
    std::vector<double> kept = at_full_clock();
    samples_.discarded = static_cast<std::int64_t>(samples_.cold_ns.size() - kept.size());
    samples_.cold_ns = std::move(kept);
  }

  GpuDriver& gpu_;
  const TimingRules& rules_;
  const TimedWork& work_;
  const Clock& clock_;
  ColdState cold_;
  std::int64_t begin_;
  std::vector<double> clocks_;  // in MHz, one for each cold sample
  double shortest_ns_ = std::numeric_limits<double>::infinity();  // of the cold runs so far
  double warm_overhead_ns_ = 0;
  LaunchSamples samples_;
};

}  // namespace

LaunchStatus queue_timed(GpuDriver& gpu, std::size_t operations,
                         const std::function<LaunchStatus()>& enqueue,
                         const std::function<LaunchStatus()>& before) {
  const UnblockAtEnd unblock(gpu);
  if (operations <= kMaxBlockedOperations) {
    if (LaunchStatus s = gpu.block_stream(); !s) return s;
  }
  if (before) {
    if (LaunchStatus s = before(); !s) return s;
  }
  if (LaunchStatus s = gpu.mark_start(); !s) return s;
  if (LaunchStatus s = enqueue(); !s) return s;
  return gpu.mark_stop();
}

LaunchResult<LaunchSamples> take_samples(GpuDriver& gpu, const TimingRules& rules,
                                         const TimedWork& work, const Clock& clock) {
  return Series(gpu, rules, work, clock).run();
}

ColdState::ColdState(GpuDriver& gpu)
    : gpu_(gpu),
      bytes_(std::max(kMinFlushBytes,
                      kFlushPerL2 * static_cast<std::uint64_t>(gpu.facts().l2_bytes))) {}

ColdState::~ColdState() {
  if (memory_ != 0) gpu_.free(memory_);
}

LaunchStatus ColdState::open() {
  LaunchResult<DevicePtr> memory = gpu_.allocate(bytes_);
  if (!memory)
    return launch_fail(memory.error().kind,
                       "no room to flush the L2 for timing: " + memory.error().message);
  memory_ = *memory;
  return {};
}

LaunchStatus ColdState::flush(const TimedWork& work) {
  LaunchStatus written =
      work.clear ? work.clear(memory_, bytes_) : gpu_.fill_async(memory_, bytes_, 1, 0);
  return written ? gpu_.synchronize() : written;
}

LaunchStatus ColdState::make(const TimedWork& work) {
  if (LaunchStatus s = work.restore(); !s) return s;
  if (work.scrub) {
    if (LaunchStatus s = work.scrub(); !s) return s;
  }
  if (LaunchStatus s = gpu_.reset_persisting_l2(); !s) return s;
  return flush(work);
}

}  // namespace assay::sandbox
