#include "sandbox/timing/baseline_cache.h"

namespace assay::sandbox {

std::string BaselineCache::key(const std::string& operator_name, const std::string& revision,
                               const CaseRequest& request) {
  std::string key = operator_name + '\n' + revision + '\n' + request.id + '\n' + request.dtype +
                    '\n' + request.distribution;
  for (const auto& [axis, extent] : request.axes) key += '\n' + axis + '=' + std::to_string(extent);
  return key;
}

BaselineTimes BaselineCache::find(const std::string& key, Instant now) const {
  const MutexLock lock(mutex_);
  const auto found = entries_.find(key);
  if (found == entries_.end()) return {};
  const Entry& entry = found->second;
  BaselineTimes times;
  if (now - entry.pytorch_since <= kMostAge) times.pytorch_ns = entry.times.pytorch_ns;
  if (entry.times.oracle && now - entry.oracle_since <= kMostAge) {
    times.oracle = entry.times.oracle;
    times.oracle->age_ms =
        std::chrono::duration<double, std::milli>(now - entry.oracle_since).count();
  }
  return times;
}

void BaselineCache::put(const std::string& key, const BaselineTimes& times, Instant now) {
  const MutexLock lock(mutex_);
  Entry& entry = entries_[key];
  if (times.oracle) {
    entry.times.oracle = times.oracle;
    entry.oracle_since = now;
  }
  if (times.pytorch_ns) {
    entry.times.pytorch_ns = times.pytorch_ns;
    entry.pytorch_since = now;
  }
}

}  // namespace assay::sandbox
