#include "server/runs/fair_shares.h"

#include <algorithm>

namespace assay::server {

FairShares::Members::iterator FairShares::find(const std::string& member) {
  return std::find_if(members_.begin(), members_.end(),
                      [&](const Member& one) { return one.name == member; });
}

void FairShares::add(const std::string& member, double weight) {
  auto known = find(member);
  if (known == members_.end()) {
    const auto ahead = ahead_.find(member);
    const double served_ms = ahead == ahead_.end() ? now_ms_ : std::max(now_ms_, ahead->second);
    if (ahead != ahead_.end()) ahead_.erase(ahead);
    known = members_.insert(members_.end(), Member{member, served_ms, 0, weight});
  }
  known->weight = weight;
  ++known->jobs;
}

std::optional<std::string> FairShares::next(
    const std::function<bool(const std::string& member)>& may) const {
  // If several members have been served up to the same time, this returns the first of the list.
  // New members, and members whose job was just taken, go to the end of the list. So the
  // first member has waited longest.
  const Member* next = nullptr;
  for (const Member& one : members_) {
    if (next != nullptr && one.served_ms >= next->served_ms) continue;
    if (!may || may(one.name)) next = &one;
  }
  if (next == nullptr) return std::nullopt;
  return next->name;
}

void FairShares::take(const std::string& member, double expected_ms) {
  const auto taken = find(member);
  double weights = 0;
  for (const Member& one : members_) weights += one.weight;
  now_ms_ = std::max(now_ms_, taken->served_ms) + expected_ms / weights;
  taken->served_ms += expected_ms / taken->weight;
  members_.splice(members_.end(), members_, taken);
  drop_job(taken);
}

void FairShares::remove(const std::string& member) { drop_job(find(member)); }

void FairShares::drop_job(Members::iterator member) {
  if (--member->jobs > 0) return;
  ahead_[member->name] = member->served_ms;
  members_.erase(member);
  // If no other member has waiting jobs, no member has to make up for earlier use.
  if (members_.empty())
    ahead_.clear();
  else
    std::erase_if(ahead_, [&](const auto& one) { return one.second <= now_ms_; });
}

void FairShares::correct(const std::string& member, double more_ms, double weight) {
  more_ms /= weight;
  if (const auto waiting = find(member); waiting != members_.end())
    waiting->served_ms += more_ms;
  else if (const auto known = ahead_.find(member); known != ahead_.end())
    known->second += more_ms;
  else if (!members_.empty() && more_ms > 0)
    ahead_[member] = now_ms_ + more_ms;
}

}  // namespace assay::server
