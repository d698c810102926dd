#include "sandbox/timing/pytorch_times.h"

#include <algorithm>

namespace assay::sandbox {

bool PyTorchTimes::is_young(const Measured& one) const {
  constexpr std::int64_t kMostAgeNs = std::chrono::nanoseconds(kMostAge).count();
  return clock_.monotonic_ns() - one.at_ns <= kMostAgeNs;
}

PyTorchTimes::Known PyTorchTimes::find(const std::string& key) const {
  const MutexLock lock(mutex_);
  Known known;
  const auto found = times_.find(key);
  if (found == times_.end()) return known;
  for (const Measured& one : found->second) {
    if (!is_young(one)) continue;
    ++known.measured;
    known.shortest_ns = std::min(one.ns, known.shortest_ns.value_or(one.ns));
  }
  return known;
}

void PyTorchTimes::put(const std::string& key, double ns, std::int64_t at_ns) {
  const MutexLock lock(mutex_);
  std::vector<Measured>& times = times_[key];
  std::erase_if(times, [&](const Measured& one) { return !is_young(one); });
  // Two grades on one GPU never measure at once, but this object does not rely on it.
  if (times.size() >= kEnough) times.erase(times.begin());
  times.push_back({ns, at_ns});
}

}  // namespace assay::sandbox
