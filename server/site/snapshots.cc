#include "server/site/snapshots.h"

#include <algorithm>
#include <utility>

namespace assay::site {

std::shared_ptr<const Snapshot> Snapshots::usable(const std::string& principal,
                                                  const std::string& revision) {
  const MutexLock lock(mutex_);
  const auto known = kept_.find(principal);
  if (known == kept_.end()) return nullptr;
  Kept& kept = known->second;
  kept.used_ns = clock_.monotonic_ns();
  const std::shared_ptr<const Snapshot>& newest = kept.snapshots.front();
  return newest->revision == revision || kept.used_ns < kept.next_ns ? newest : nullptr;
}

Result<std::shared_ptr<const Snapshot>> Snapshots::newest(const std::string& principal,
                                                          const std::string& revision) {
  if (auto known = usable(principal, revision)) return known;
  const MutexLock lock(making_);
  // Another thread may have made it while this one waited.
  if (auto known = usable(principal, revision)) return known;
  const std::int64_t start_ns = clock_.monotonic_ns();
  const std::int64_t number = ++last_number_;
  ASSAY_TRY(parts, make_(principal, number, revision));
  auto made = std::make_shared<const Snapshot>(Snapshot{number, revision, std::move(parts)});
  keep(principal, made, clock_.monotonic_ns() - start_ns);
  return made;
}

void Snapshots::keep(const std::string& principal, std::shared_ptr<const Snapshot> snapshot,
                     std::int64_t took_ns) {
  const MutexLock lock(mutex_);
  Kept& kept = kept_[principal];
  kept.used_ns = clock_.monotonic_ns();
  kept.next_ns = kept.used_ns + std::max(limits_.min_age_ms * kNsPerMs, limits_.rest * took_ns);
  kept.snapshots.push_front(std::move(snapshot));
  if (kept.snapshots.size() > limits_.kept) kept.snapshots.pop_back();
  if (kept_.size() <= limits_.principals) return;
  auto oldest = kept_.end();
  for (auto each = kept_.begin(); each != kept_.end(); ++each) {
    if (each->first == principal) continue;
    if (oldest == kept_.end() || each->second.used_ns < oldest->second.used_ns) oldest = each;
  }
  if (oldest != kept_.end()) kept_.erase(oldest);
}

std::shared_ptr<const Snapshot> Snapshots::find(const std::string& principal,
                                                std::int64_t number) const {
  const MutexLock lock(mutex_);
  const auto known = kept_.find(principal);
  if (known == kept_.end()) return nullptr;
  for (const std::shared_ptr<const Snapshot>& snapshot : known->second.snapshots) {
    if (snapshot->number == number) return snapshot;
  }
  return nullptr;
}

}  // namespace assay::site
