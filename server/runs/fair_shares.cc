#include "server/runs/fair_shares.h"

#include <algorithm>

namespace assay::server {

FairShares::Members::iterator FairShares::find(const std::string& member) {
  return std::find_if(members_.begin(), members_.end(),
                      [&](const Member& one) { return one.name == member; });
}

void FairShares::add(const std::string& member) {
  auto known = find(member);
  if (known == members_.end()) {
    const auto ahead = ahead_.find(member);
    const double served_ms = ahead == ahead_.end() ? now_ms_ : std::max(now_ms_, ahead->second);
    if (ahead != ahead_.end()) ahead_.erase(ahead);
    known = members_.insert(members_.end(), Member{member, served_ms, 0});
  }
  ++known->jobs;
}

std::optional<std::string> FairShares::next() const {
  // If several members have been served up to the same time, min_element() returns the first of the
  // list. New members, and members whose job was just taken, go to the end of the list. So the
  // first member has waited longest.
  const auto next =
      std::min_element(members_.begin(), members_.end(),
                       [](const Member& a, const Member& b) { return a.served_ms < b.served_ms; });
  if (next == members_.end()) return std::nullopt;
  return next->name;
}

void FairShares::take(const std::string& member, double expected_ms) {
  const auto taken = find(member);
  now_ms_ =
      std::max(now_ms_, taken->served_ms) + expected_ms / static_cast<double>(members_.size());
  taken->served_ms += expected_ms;
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

void FairShares::correct(const std::string& member, double more_ms) {
  if (const auto waiting = find(member); waiting != members_.end())
    waiting->served_ms += more_ms;
  else if (const auto known = ahead_.find(member); known != ahead_.end())
    known->second += more_ms;
  else if (!members_.empty() && more_ms > 0)
    ahead_[member] = now_ms_ + more_ms;
}

}  // namespace assay::server
