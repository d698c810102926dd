// CheckedSample draws the timed sample of a block whose outputs are checked.
//
//   CheckedSample checked({.least_cold = 10, .fresh = 3});
//   if (checked.is_drawn(SampleKind::cold, index, is_last)) return_outputs();  // after each sample
//
// With probability 1/2 it is a fresh sample, because only there the launcher's own kernels are
// certain to be unchanged. With probability 1/4 it is the first cold sample, because it cannot use
// results kept from an earlier sample. Otherwise it is one of the later cold samples. If no fresh
// samples follow, the first cold sample has probability 1/2. Fresh samples have equal
// probabilities, and so have later cold samples, unless the time limit ends them early.
//
// Nearly always one sample of a block is drawn, because returning outputs takes a millisecond, and
// makes the next run up to 0.9 us slower. (If more than `least_cold` samples are taken, a later one
// can replace the one that was drawn.) A kernel that keeps state from run to run could notice the
// pause, and leave its work out in the samples that follow. They are a third of a block's cold
// samples on average, so the median changes little, and it must agree with first runs and fresh
// samples (docs/explanation/threat-model.md, "Kept answers").
// Not thread-safe.
#pragma once

#include <cstdint>
#include <random>

#include "sandbox/launcher/timing/timing.h"

namespace assay::sandbox {

class CheckedSample {
 public:
  struct Samples {
    std::int64_t least_cold = 1;  // the number of cold samples that are taken in any case
    std::int64_t fresh = 0;       // the number of fresh samples that follow
  };
  explicit CheckedSample(const Samples& samples, std::uint64_t seed = std::random_device{}());

  /// Returns true if the outputs of this sample must be returned, in place of those that were
  /// returned before. Must be called after each sample, with its index (from 0, for each kind), and
  /// whether it is the last one of its kind.
  bool is_drawn(SampleKind kind, std::int64_t index, bool is_last);

 private:
  bool one_in(std::int64_t count);
  std::int64_t one_of(std::int64_t first, std::int64_t last);

  const Samples samples_;
  std::mt19937_64 random_;
  SampleKind kind_ = SampleKind::cold;
  std::int64_t index_ = 0;
  bool was_drawn_ = false;
};

}  // namespace assay::sandbox
