#include "sandbox/timing/baseline_cache.h"

namespace assay::sandbox {

std::string BaselineCache::key(const std::string& operator_name, const std::string& revision,
                               const CaseRequest& request) {
  std::string key = operator_name + '\n' + revision + '\n' + request.id + '\n' + request.dtype +
                    '\n' + request.distribution;
  for (const auto& [axis, extent] : request.axes) key += '\n' + axis + '=' + std::to_string(extent);
  return key;
}

BaselineTimes BaselineCache::find(const std::string& key) const {
  constexpr std::int64_t kMostAgeNs = std::chrono::nanoseconds(kMostAge).count();
  const std::int64_t now_ns = clock_.monotonic_ns();
  const MutexLock lock(mutex_);
  const auto found = entries_.find(key);
  if (found == entries_.end()) return {};
  const Entry& entry = found->second;
  BaselineTimes times;
  if (now_ns - entry.pytorch_since_ns <= kMostAgeNs) times.pytorch_ns = entry.times.pytorch_ns;
  const std::int64_t baseline_age_ns = now_ns - entry.baseline_since_ns;
  if (entry.times.baseline && baseline_age_ns <= kMostAgeNs) {
    times.baseline = entry.times.baseline;
    times.baseline->age_ms = static_cast<double>(baseline_age_ns) / kNsPerMs;
  }
  return times;
}

void BaselineCache::put(const std::string& key, const BaselineTimes& times, std::int64_t at_ns) {
  if (!times.baseline && !times.pytorch_ns) return;
  const MutexLock lock(mutex_);
  Entry& entry = entries_[key];
  if (times.baseline) {
    entry.times.baseline = times.baseline;
    entry.baseline_since_ns = at_ns;
  }
  if (times.pytorch_ns) {
    entry.times.pytorch_ns = times.pytorch_ns;
    entry.pytorch_since_ns = at_ns;
  }
}

}  // namespace assay::sandbox
