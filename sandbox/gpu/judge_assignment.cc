#include "sandbox/gpu/judge_assignment.h"

#include <algorithm>
#include <tuple>

namespace assay::sandbox {

JudgeAssignment::Hold JudgeAssignment::take(const std::string& operator_name) {
  const std::lock_guard lock(mutex_);
  auto known = of_operator_.find(operator_name);
  if (known == of_operator_.end()) {
    const auto fewest =
        std::min_element(judges_.begin(), judges_.end(), [](const Load& a, const Load& b) {
          return std::tie(a.jobs, a.operators) < std::tie(b.jobs, b.operators);
        });
    ++fewest->operators;
    known = of_operator_.emplace(operator_name, fewest - judges_.begin()).first;
  }
  ++judges_[known->second].jobs;
  return {*this, known->second};
}

void JudgeAssignment::give_back(std::size_t index) {
  const std::lock_guard lock(mutex_);
  --judges_[index].jobs;
}

}  // namespace assay::sandbox
