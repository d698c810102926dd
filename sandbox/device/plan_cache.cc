#include "sandbox/device/plan_cache.h"

#include "base/handle.h"

namespace assay::sandbox {
namespace {

constexpr std::size_t kMaxPlans = 1'024;

}  // namespace

std::optional<std::string> PlanCache::find(const std::string& key) const {
  const std::lock_guard lock(mutex_);
  const auto found = plans_.find(key);
  if (found == plans_.end()) return std::nullopt;
  return found->second;
}

void PlanCache::put(const std::string& key, std::string plan) {
  const std::lock_guard lock(mutex_);
  if (!plans_.emplace(key, std::move(plan)).second) return;
  order_.push_back(key);
  if (order_.size() <= kMaxPlans) return;
  plans_.erase(order_.front());
  order_.pop_front();
}

std::optional<std::string> PlanCache::key(const std::string& source, const std::string& target, const CaseRequest& request, const PreparedCase& prepared) {
  if (!prepared.structural.empty()) return std::nullopt;
  std::string text = sha256_hex(source) + "\n" + target + "\n" + request.id + "\n" + request.dtype + "\n" + request.distribution;
  for (const auto& [name, extent] : request.axes) text += "\n" + name + "=" + std::to_string(extent);
  return sha256_hex(text);
}

}  // namespace assay::sandbox
