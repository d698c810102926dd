#include "reference_agents/llm/spending_budget.h"

namespace assay::agents {

bool SpendingBudget::set_aside(double amount_usd) {
  std::unique_lock lock(mutex_);
  if (!spending_.limit_usd) return true;
  const double limit = *spending_.limit_usd;
  // What the others have set aside mostly comes back: wait for that before giving up.
  settled_.wait(lock, [&] {
    return limit_reached_ || spending_.spent_usd + amount_usd > limit ||
           spending_.spent_usd + set_aside_usd_ + amount_usd <= limit;
  });
  if (limit_reached_ || spending_.spent_usd + amount_usd > limit) {
    limit_reached_ = true;
    settled_.notify_all();
    return false;
  }
  set_aside_usd_ += amount_usd;
  return true;
}

void SpendingBudget::settle(double set_aside_usd, double spent_usd) {
  const std::lock_guard lock(mutex_);
  if (spending_.limit_usd) set_aside_usd_ -= set_aside_usd;
  spending_.spent_usd += spent_usd;
  settled_.notify_all();
}

double SpendingBudget::spent_usd() const {
  const std::lock_guard lock(mutex_);
  return spending_.spent_usd;
}

bool SpendingBudget::limit_reached() const {
  const std::lock_guard lock(mutex_);
  return limit_reached_;
}

}  // namespace assay::agents
