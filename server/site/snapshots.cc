#include "server/site/snapshots.h"

#include <algorithm>
#include <utility>

namespace assay::site {

Snapshots::Newest Snapshots::usable(const std::string& principal, const std::string& revision) {
  const MutexLock lock(mutex_);
  const auto known = kept_.find(principal);
  if (known == kept_.end()) return nullptr;
  Kept& kept = known->second;
  kept.used_ns = clock_.monotonic_ns();
  const bool rests = kept.used_ns < kept.next_ns;
  if (kept.failure && rests) return fail(*kept.failure);
  if (kept.failure || kept.snapshots.empty()) return nullptr;
  const std::shared_ptr<const Snapshot>& newest = kept.snapshots.front();
  return newest->revision == revision || rests ? newest : nullptr;
}

Result<std::shared_ptr<const Snapshot>> Snapshots::newest(const std::string& principal,
                                                          const std::string& revision) {
  ASSAY_TRY(known, usable(principal, revision));
  if (known) return known;
  const MutexLock lock(making_);
  // Another thread may have made it while this one waited.
  ASSAY_TRY(made_meanwhile, usable(principal, revision));
  if (made_meanwhile) return made_meanwhile;
  const std::int64_t start_ns = clock_.monotonic_ns();
  const std::int64_t number = ++last_number_;
  Result<Parts> parts = make_(principal, number, revision);
  if (!parts) {
    keep_failure(principal, parts.error());
    return fail(parts.error());
  }
  auto made = std::make_shared<const Snapshot>(Snapshot{number, revision, std::move(*parts)});
  keep(principal, made, clock_.monotonic_ns() - start_ns);
  return made;
}

Snapshots::Kept& Snapshots::kept_of(const std::string& principal) {
  Kept& kept = kept_[principal];
  kept.used_ns = clock_.monotonic_ns();
  if (kept_.size() <= limits_.principals) return kept;
  auto oldest = kept_.end();
  for (auto each = kept_.begin(); each != kept_.end(); ++each) {
    if (each->first == principal) continue;
    if (oldest == kept_.end() || each->second.used_ns < oldest->second.used_ns) oldest = each;
  }
  if (oldest != kept_.end()) kept_.erase(oldest);
  return kept;
}

void Snapshots::keep(const std::string& principal, std::shared_ptr<const Snapshot> snapshot,
                     std::int64_t took_ns) {
  const MutexLock lock(mutex_);
  Kept& kept = kept_of(principal);
  kept.failure.reset();
  kept.next_ns = kept.used_ns + std::max(limits_.min_age_ms * kNsPerMs, limits_.rest * took_ns);
  kept.snapshots.push_front(std::move(snapshot));
  if (kept.snapshots.size() > limits_.kept) kept.snapshots.pop_back();
}

void Snapshots::keep_failure(const std::string& principal, const Error& error) {
  const MutexLock lock(mutex_);
  Kept& kept = kept_of(principal);
  kept.failure = error;
  kept.next_ns = kept.used_ns + limits_.failed_pause_ms * kNsPerMs;
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
