#include "sandbox/launcher/replay/checked_sample.h"

#include <algorithm>

namespace assay::sandbox {
namespace {

double probability_of_a_pause(SampleKind kind, std::int64_t index) {
  if (kind == SampleKind::fresh) return CheckedSample::kPauseAfterFresh;
  const auto even = static_cast<double>(CheckedSample::kEvenSamples);
  return CheckedSample::kPauseAfterCold * std::min(1.0, even / static_cast<double>(index));
}

}  // namespace

CheckedSample::CheckedSample(bool has_fresh_samples, std::uint64_t seed) : random_(seed) {
  if (has_fresh_samples && happens(0.5))
    checked_ = Checked::fresh;
  else
    checked_ = happens(0.5) ? Checked::first : Checked::later;
}

CheckedSample::Pause CheckedSample::after(SampleKind kind, std::int64_t index, bool is_last) {
  const bool is_first = kind == SampleKind::cold && index == 0;
  // A block whose time limit allows one sample only has no later one to check.
  if (is_first)
    return checked_ == Checked::first || (checked_ == Checked::later && is_last) ? Pause::checked
                                                                                 : Pause::decoy;
  double& weights = kind == SampleKind::fresh ? fresh_weights_ : later_weights_;
  const double probability = probability_of_a_pause(kind, index);
  if (!happens(probability) && !(is_last && weights == 0)) return Pause::none;
  // A sample after which a pause is rare counts more, so all samples of a kind are about equally
  // likely to be the one that is checked, except the last one, which is so more often.
  weights += 1 / probability;
  const bool replaces = happens(1 / probability / weights);
  const Checked of_kind = kind == SampleKind::fresh ? Checked::fresh : Checked::later;
  return replaces && checked_ == of_kind ? Pause::checked : Pause::decoy;
}

bool CheckedSample::happens(double probability) {
  return std::bernoulli_distribution(std::min(1.0, probability))(random_);
}

}  // namespace assay::sandbox
