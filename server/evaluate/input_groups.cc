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
  if (open_.size() >= kMostGroups && open_.count(key) == 0) {
    const auto oldest =
        std::min_element(open_.begin(), open_.end(), [](const auto& one, const auto& other) {
          return one.second.used_ns < other.second.used_ns;
        });
    end(Key(oldest->first));
  }
  Generation& generation = open_[key];
  if (generation.secret.empty()) generation.secret = random_hex(kSecretDigits);
  generation.used_ns = clock_.monotonic_ns();
  generation.jobs.push_back(job);
  groups_[job] = key;
  return generation.secret;
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
