// Implements the functions of TimingSession that take times from earlier jobs and keep times for
// later ones.
#include <optional>
#include <string>

#include "sandbox/timing/timing_session.h"

namespace assay::sandbox {

BaselineTimes TimingSession::known_times(const std::string& key) const {
  if (run_.job().reference) return {};  // the key does not contain the reference
  if (run_.job().kind != JobKind::profile) return {};
  BaselineTimes known = parts_.known.baselines.find(key);
  // An oracle's time has samples of another kind. PyTorch's samples are the same in both series.
  if (all_fresh_ && !pytorch_is_baseline()) known.baseline.reset();
  return known;
}

PyTorchTimes::Known TimingSession::earlier_pytorch(const std::string& key) const {
  if (!usable_by_grades() || pytorch_is_baseline()) return {};
  return parts_.known.pytorch.find(key);
}

std::optional<Timing> TimingSession::earlier_grade(const std::string& key) const {
  if (!usable_by_grades() || pytorch_is_baseline() || all_fresh_) return {};
  return parts_.known.graded.find(key).baseline;
}

void TimingSession::keep_for_later_jobs() {
  if (run_.job().reference) return;  // the keys do not contain the reference
  MeasurementCache& known = parts_.known;
  for (const std::optional<Found>& one : found_) {
    if (!one) continue;
    known.baselines.put(one->key, one->times, one->at_ns);
    if (one->confirmable)
      known.graded.put(one->key, {.baseline = one->times.baseline, .pytorch_ns = std::nullopt},
                       one->at_ns);
    if (one->pytorch_ns) known.pytorch.put(one->key, *one->pytorch_ns, one->at_ns);
  }
}

}  // namespace assay::sandbox
