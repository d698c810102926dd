// CheckedSample draws the timed sample of a block whose outputs are checked.
//
//   CheckedSample checked(has_fresh_samples);
//   switch (checked.after(SampleKind::cold, index, is_last)) {  // after each sample
//     case CheckedSample::Pause::none: break;
//     case CheckedSample::Pause::decoy: pretend_to_return_outputs(); break;
//     case CheckedSample::Pause::checked: return_outputs(); break;  // in place of earlier ones
//   }
//
// With probability 1/2 it is a fresh sample, because only there the launcher's own kernels are
// certain to be unchanged. With probability 1/4 it is the first cold sample, because it cannot use
// results kept from an earlier sample. Otherwise it is one of the later cold samples. If no fresh
// samples follow, the first cold sample has probability 1/2.
//
// Returning outputs takes most of a millisecond. A kernel that keeps the time of its last run could
// notice the pause, and leave its work out in samples that are no longer checked. So pauses must
// tell it nothing: they come after the first cold sample, and after each other one with a
// probability that depends only on its index. If none came after a later sample, one comes after
// the last. Which of these samples is checked is drawn apart, and the other pauses are decoys, in
// which the launcher does the same and only copies nothing new.
// Not thread-safe.
#pragma once

#include <cstdint>
#include <random>

#include "sandbox/launcher/timing/timing.h"

namespace assay::sandbox {

class CheckedSample {
 public:
  enum class Pause { none, decoy, checked };

  /// The probability of a pause after a later cold sample, and after a fresh sample. After the
  /// tenth cold sample, it falls with the index, so that a long block has few more pauses.
  static constexpr double kPauseAfterCold = 0.2, kPauseAfterFresh = 1.0 / 3;
  static constexpr std::int64_t kEvenSamples = 10;

  explicit CheckedSample(bool has_fresh_samples, std::uint64_t seed = std::random_device{}());

  /// Says what must happen after a sample. Must be called after each sample, with its index (from
  /// 0, for each kind), and whether it is the last one of its kind.
  Pause after(SampleKind kind, std::int64_t index, bool is_last);

 private:
  enum class Checked { first, later, fresh };
  bool happens(double probability);

  std::mt19937_64 random_;
  Checked checked_;
  // The sums of the weights of the samples after which a pause came.
  double later_weights_ = 0, fresh_weights_ = 0;
};

}  // namespace assay::sandbox
