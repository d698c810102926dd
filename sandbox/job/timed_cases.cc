#include "sandbox/job/timed_cases.h"

#include <algorithm>

namespace assay::sandbox {

std::vector<CaseCost> costs_of(const std::vector<CaseRecord>& records) {
  std::vector<CaseCost> costs;
  for (const CaseRecord& record : records) costs.push_back({record.cost_bytes, record.cost_flops});
  return costs;
}

std::vector<bool> worth_timing(const std::vector<CaseCost>& costs) {
  CaseCost most;
  for (const CaseCost& cost : costs)
    most = {std::max(most.bytes, cost.bytes), std::max(most.flops, cost.flops)};
  const auto is_large = [](double cost, double largest) {
    return largest > 0 && cost >= kLeastCostShare * largest;
  };
  std::vector<bool> timed;
  for (const CaseCost& cost : costs) {
    timed.push_back((most.bytes <= 0 && most.flops <= 0) || is_large(cost.bytes, most.bytes) ||
                    is_large(cost.flops, most.flops));
  }
  return timed;
}

}  // namespace assay::sandbox
