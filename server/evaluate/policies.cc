#include "server/evaluate/policies.h"

#include <algorithm>
#include <cmath>

#include "base/text.h"

namespace assay::server {
namespace {

using nlohmann::json;

std::vector<std::string> variable_names() {
  std::vector<std::string> names;
  for (const auto& [name, meaning] : reward_variables()) names.push_back(name);
  return names;
}

std::string policy_names() {
  return join(kPolicies, ", ", [](const PolicyRow& row) { return std::string(row.name); });
}

}  // namespace

const std::vector<std::pair<std::string, std::string>>& reward_variables() {
  static const std::vector<std::pair<std::string, std::string>> variables = {
      {"compiled", "1 if the source ran and its kernels compiled, otherwise 0"},
      {"correct", "1 if the outcome is pass, otherwise 0"},
      {"cases", "the number of cases that were to be judged"},
      {"cases_passed", "the number of cases whose outputs are right"},
      {"timed", "1 if the submission was timed, otherwise 0"},
      {"perf", "the baseline's time divided by the submission's time; 0 if not timed"},
      {"speedup", "PyTorch's time divided by the submission's; perf if PyTorch was not timed"},
      {"sol", "the physical minimum of the time divided by the submission's time; 0 if not timed"},
      {"own_share", "the share of the submission's own kernels in its GPU time, 0 to 1"},
      {"suspect", "1 if the result looks like an attempt to score without the work, otherwise 0"},
  };
  return variables;
}

Result<RewardPolicies> RewardPolicies::choose(const std::vector<PolicyChoice>& choices) {
  if (choices.size() > kMostPolicies)
    return fail(ErrorCode::invalid_argument,
                "a request may name " + std::to_string(kMostPolicies) + " policies");
  static const std::vector<std::string> variables = variable_names();
  RewardPolicies chosen;
  for (const PolicyChoice& choice : choices) {
    std::string text = choice.expression;
    if (text.empty()) {
      const auto* const row =
          std::find_if(kPolicies.begin(), kPolicies.end(),
                       [&](const auto& one) { return one.name == choice.name; });
      if (row == kPolicies.end())
        return fail(ErrorCode::not_found, "unknown policy '" + cut_end(choice.name, 60) +
                                              "'; valid: " + policy_names() +
                                              ", or an object with name and expression");
      text = row->expression;
    }
    const bool twice = std::any_of(chosen.policies_.begin(), chosen.policies_.end(),
                                   [&](const auto& one) { return one.first == choice.name; });
    if (twice)
      return fail(ErrorCode::invalid_argument, "two policies have the name " + choice.name);
    Result<Expression> parsed = Expression::parse(text, variables);
    if (!parsed)
      return fail(ErrorCode::invalid_argument,
                  "policy " + choice.name + ": " + parsed.error().message);
    chosen.policies_.emplace_back(choice.name, std::move(*parsed));
  }
  return chosen;
}

json RewardPolicies::rewards(const Expression::Variables& variables) const {
  json rewards = json::object();
  for (const auto& [name, expression] : policies_) {
    const double value = expression.value(variables);
    rewards[name] = std::isfinite(value) ? json(value) : json();
  }
  return rewards;
}

json RewardPolicies::masked() const {
  json rewards = json::object();
  for (const auto& [name, expression] : policies_) rewards[name] = json();
  return rewards;
}

json policies_document() {
  json policies = json::array();
  for (const PolicyRow& row : kPolicies)
    policies.push_back({{"name", row.name},
                        {"expression", row.expression},
                        {"source", row.source},
                        {"note", row.note}});
  json variables = json::object();
  for (const auto& [name, meaning] : reward_variables()) variables[name] = meaning;
  return {{"policies", std::move(policies)},
          {"variables", std::move(variables)},
          {"functions", kFunctionNames}};
}

}  // namespace assay::server
