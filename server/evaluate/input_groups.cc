#include "server/evaluate/input_groups.h"

#include <algorithm>

#include "base/handle.h"

namespace assay::server {
namespace {

constexpr std::size_t kSecretDigits = 32;

}  // namespace

std::string InputGroups::secret_of(const std::string& principal, const std::string& group,
                                   const std::string& job) {
  const Key key{principal, group};
  const MutexLock lock(mutex_);
  if (open_.size() >= kMostGroups && open_.count(key) == 0) end_oldest();
  if (groups_.size() >= kMostJobs) end_oldest();
  Generation& generation = open_[key];
  if (generation.secret.empty()) generation.secret = random_hex(kSecretDigits);
  generation.used_ns = clock_.monotonic_ns();
  generation.jobs.insert(job);
  groups_[job] = key;
  return generation.secret;
}

void InputGroups::forget(const std::string& job) {
  const MutexLock lock(mutex_);
  const auto found = groups_.find(job);
  if (found == groups_.end()) return;
  const auto generation = open_.find(found->second);
  generation->second.jobs.erase(job);
  if (generation->second.jobs.empty()) open_.erase(generation);
  groups_.erase(found);
}

std::size_t InputGroups::jobs() const {
  const MutexLock lock(mutex_);
  return groups_.size();
}

void InputGroups::end_oldest() {
  const auto oldest = std::min_element(
      open_.begin(), open_.end(),
      [](const auto& one, const auto& other) { return one.second.used_ns < other.second.used_ns; });
  if (oldest != open_.end()) end(Key(oldest->first));
}

void InputGroups::note_read(const std::string& job) {
  const MutexLock lock(mutex_);
  const auto found = groups_.find(job);
  if (found != groups_.end()) end(Key(found->second));
}

void InputGroups::note_all_read(const std::string& principal) {
  const MutexLock lock(mutex_);
  std::vector<Key> keys;
  for (auto it = open_.lower_bound({principal, ""}); it != open_.end(); ++it) {
    if (it->first.first != principal) break;
    keys.push_back(it->first);
  }
  for (const Key& key : keys) end(key);
}

void InputGroups::end(const Key& key) {
  const auto found = open_.find(key);
  if (found == open_.end()) return;
  for (const std::string& job : found->second.jobs) groups_.erase(job);
  open_.erase(found);
}

}  // namespace assay::server
