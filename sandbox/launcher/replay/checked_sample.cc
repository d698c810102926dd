#include "sandbox/launcher/replay/checked_sample.h"

namespace assay::sandbox {

CheckedSample::CheckedSample(const Samples& samples, std::uint64_t seed)
    : samples_(samples), random_(seed) {
  if (samples_.fresh > 0 && one_in(2)) {
    kind_ = SampleKind::fresh;
    index_ = one_of(0, samples_.fresh - 1);
  } else if (!one_in(2) && samples_.least_cold > 1) {
    index_ = one_of(1, samples_.least_cold - 1);
  }
}

bool CheckedSample::is_drawn(SampleKind kind, std::int64_t index, bool is_last) {
  if (kind != kind_) return false;
  // Each later sample after the least ones replaces the one before with the probability that makes
  // all later ones equally likely (reservoir sampling).
  if (kind_ == SampleKind::cold && index_ > 0 && index >= samples_.least_cold) return one_in(index);
  const bool drawn = index == index_ || (is_last && !was_drawn_);
  was_drawn_ = was_drawn_ || drawn;
  return drawn;
}

bool CheckedSample::one_in(std::int64_t count) { return one_of(1, count) == 1; }

std::int64_t CheckedSample::one_of(std::int64_t first, std::int64_t last) {
  return std::uniform_int_distribution<std::int64_t>(first, last)(random_);
}

}  // namespace assay::sandbox
