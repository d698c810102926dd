// Policies turn the result of an evaluation into a reward. A policy is a row of kPolicies: a name,
// a formula (expression.h) and its source. docs/reference/evaluate.md lists the variables.
//
//   const std::vector<PolicyChoice> choices = {{"kevin", ""}, {"mine", "2 * correct"}};
//   const Result<RewardPolicies> chosen = RewardPolicies::choose(choices);
//   const nlohmann::json rewards = chosen->rewards(variables);  // {"kevin": 1.8, "mine": 2.0}
//
// RewardPolicies is immutable; threads may share it.
#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "server/evaluate/expression.h"

namespace assay::server {

inline constexpr std::size_t kMostPolicies = 8;  // of one request

struct PolicyRow {
  std::string_view name, expression, source, note;
};

inline constexpr std::array kPolicies = {
    PolicyRow{"staged", "correct ? 120 + 100 * speedup : (compiled ? 20 : 0)",
              "AgentKernelArena (AMD-AGI): 20 for a kernel that compiles, 100 for a right one, and "
              "100 times the speed-up of a right one",
              "Rises in stages, so a policy that seldom compiles still gets a signal."},
    PolicyRow{"kevin", "correct ? 0.3 + speedup : 0",
              "Kevin-32B (Cognition, 2025): S = 0.3 * correct + T_baseline / T_kernel * correct",
              "The discount over the turns of a rollout (0.4) is the trainer's part."},
    PolicyRow{
        "drkernel", "correct && !suspect ? 0.5 + 0.5 * (speedup >= 1.01) : 0",
        "Dr. Kernel (hkust-nlp/KernelGYM), calculate_reward_weighted with the weights 0.5 and "
        "0.5 and speedup_eps 0.01 of kernel_trainer.yaml; a decoy kernel gets 0",
        "A step with a dead zone, so noise of the times hardly changes the reward."},
    PolicyRow{"drkernel_coverage",
              "correct && !suspect ? 0.5 + 0.5 * (speedup >= 1.01) + 0.25 * own_share : 0",
              "Dr. Kernel with coverage_reward: time_coverage, weight 0.25; Assay's own_share is "
              "the coverage",
              "Rewards kernels that do the work themselves."},
    PolicyRow{"sol",
              "correct && sol > 0 && speedup > 0 ? clip((speedup - sol) / max(speedup - sol + 1 - "
              "sol, 0.000001), 0, 1) : 0",
              "SOL-ExecBench (NVIDIA): S = 1 / (1 + (T_k - T_SOL) / (T_b - T_SOL)), clipped to "
              "[0, 1], over mean ratios; T_b is PyTorch's time",
              "0.5 at PyTorch's speed and 1 at the physical limit."},
    PolicyRow{"peak_fraction", "correct ? sol : 0",
              "kernelbench.com (kernel_hard): the fraction of the hardware's peak",
              "Assay's floor is the peak: bandwidth and arithmetic of the device."},
};

/// Returns the names of the variables, each with its meaning.
const std::vector<std::pair<std::string, std::string>>& reward_variables();

/// A name, and an expression if the policy is the client's own.
struct PolicyChoice {
  std::string name, expression;
};

class RewardPolicies {
 public:
  /// Errors: not_found if there is no policy of this name; invalid_argument if an expression does
  /// not parse, if two policies have the same name, or if there are too many.
  static Result<RewardPolicies> choose(const std::vector<PolicyChoice>& choices);

  bool empty() const { return policies_.empty(); }
  /// Returns the reward of each policy. A value that is not finite is null.
  nlohmann::json rewards(const Expression::Variables& variables) const;
  /// Returns null for each policy, for a result that says nothing about the submission.
  nlohmann::json masked() const;

 private:
  std::vector<std::pair<std::string, Expression>> policies_;
};

/// Returns the document of GET /v1/policies.
nlohmann::json policies_document();

}  // namespace assay::server
