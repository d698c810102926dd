// OracleSeries collects an oracle's blocks of one case. In a grade, one block is enough if it shows
// that the time from an earlier grade still holds.
//
//   OracleSeries oracle(cache.find(key).baseline);  // or std::nullopt
//   oracle.samples().add(block, chosen);  // while oracle.wants_block()
//   oracle.look();
//   record.baseline_latency = oracle.timing();
//   if (oracle.is_new()) cache.put(key, {.baseline = oracle.timing(), .pytorch_ns = {}});
//
// A client cannot choose an earlier time: only times that are known well enough are kept, and the
// new block and the earlier time must agree as closely as a series must be known, and at the same
// clock. So the earlier time adds samples to the block, and cannot move the result by more than a
// series may be wrong anyway. A time that was confirmed is not kept again, because a chain of
// times, each close to the one before, could drift. Each object belongs to one thread.
#pragma once

#include <optional>
#include <utility>

#include "sandbox/job/job.h"
#include "sandbox/timing/statistics.h"

namespace assay::sandbox {

/// Returns true if a block shows that an earlier time of the same work still holds: the medians
/// differ by no more than is precise enough for a series, and neither clock was throttled compared
/// with the other.
bool still_holds(const Timing& earlier, const Timing& block);

class OracleSeries {
 public:
  explicit OracleSeries(std::optional<Timing> earlier) : earlier_(std::move(earlier)) {}

  Samples& samples() { return samples_; }
  /// Compares the first block with the earlier time. Call this after each block.
  void look();
  /// Returns true if rounds should contain blocks of the oracle.
  bool wants_block() const { return !confirmed_ || !samples_.steady(); }
  /// Returns true if no further round is needed for the oracle's time.
  bool steady() const { return samples_.steady(); }
  /// Returns true if the time is from this series alone.
  bool is_new() const { return !samples_.empty() && !confirmed_; }
  /// Returns the time, or nothing if there is no block. With an earlier time it has the age of that
  /// time.
  std::optional<Timing> timing() const;

 private:
  Samples samples_;
  std::optional<Timing> earlier_;  // until it was compared
  bool confirmed_ = false;
  double age_ms_ = 0;
};

}  // namespace assay::sandbox
