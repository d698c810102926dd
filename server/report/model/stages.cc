#include "server/report/model/stages.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "server/report/model/label.h"
#include "tools/model/outcome_names.h"

namespace assay::report {
namespace {

using sandbox::JobKind;
using sandbox::Outcome;
using tools::JudgedCall;

bool compiled(const JudgedCall& call) {
  if (call.outcome == Outcome::pass) return true;
  if (call.kind == JobKind::compile || call.stage < sandbox::Stage::launch) return false;
  return label_of(call.outcome, call.error_kind, call.stage, {}) != Label::no_compile;
}

/// Returns true if all public cases are right in `verdict`, the verdict of a failed grade.
bool public_cases_pass(const sandbox::Verdict& verdict) {
  bool any = false;
  for (const sandbox::CaseRecord& record : verdict.cases) {
    if (record.hidden) continue;
    if (record.outcome != Outcome::pass) return false;
    any = true;
  }
  return any;
}

bool is_own_failure(const JudgedCall& call) {
  return call.outcome != Outcome::pass && tools::error_type(call.error_kind).has_value();
}

/// Returns the calls that judged the code. A call that failed because the server stopped or the
/// device is missing did not judge the code.
std::vector<JudgedCall> calls_that_judged(const std::vector<JudgedCall>& calls) {
  std::vector<JudgedCall> kept;
  std::copy_if(calls.begin(), calls.end(), std::back_inserter(kept), [](const JudgedCall& call) {
    return call.outcome == Outcome::pass || is_own_failure(call);
  });
  return kept;
}

std::string_view stage_of(const std::vector<JudgedCall>& calls,
                          const std::optional<sandbox::Verdict>& graded) {
  if (std::none_of(calls.begin(), calls.end(), compiled)) return kAttemptStages[0];
  const bool tests_passed = std::any_of(calls.begin(), calls.end(), [](const JudgedCall& call) {
    return call.kind == JobKind::test && call.outcome == Outcome::pass;
  });
  return tests_passed || (graded && public_cases_pass(*graded)) ? kAttemptStages[2]
                                                                : kAttemptStages[1];
}

}  // namespace

std::optional<FailureStage> failure_of(const tools::OperatorScore& score) {
  std::vector<JudgedCall> calls = calls_that_judged(score.calls);
  if (score.verdict) {
    const sandbox::Verdict& verdict = *score.verdict;
    if (verdict.outcome == Outcome::pass) return std::nullopt;
    calls.push_back({JobKind::grade, verdict.outcome, verdict.error_kind, verdict.stage});
    if (!is_own_failure(calls.back())) return std::nullopt;
  }
  if (calls.empty()) return std::nullopt;
  const auto last = std::find_if(calls.rbegin(), calls.rend(), is_own_failure);
  FailureStage failure{std::string(stage_of(calls, score.verdict)), "", ""};
  if (last != calls.rend()) {
    const tools::ErrorType type = tools::error_type(last->error_kind).value_or(tools::ErrorType{});
    failure.error_type = type.type;
    failure.error_group = type.group;
  }
  return failure;
}

std::vector<StageCount> count_stages(const std::vector<std::optional<FailureStage>>& failures) {
  std::vector<StageCount> counts;
  for (const std::string_view stage : kAttemptStages) {
    StageCount count{stage, 0, {}, 0};
    std::vector<std::pair<std::string, std::string>> errors;
    for (const std::optional<FailureStage>& failure : failures) {
      if (!failure || failure->stage != stage) continue;
      ++count.attempts;
      if (failure->error_type.empty()) {
        ++count.without_error;
      } else {
        errors.emplace_back(failure->error_group, failure->error_type);
      }
    }
    // count_errors() cannot fail, because the table of groups contains every type of the
    // classification (a test checks this).
    count.groups = metrics::count_errors(errors).value_or(std::vector<metrics::GroupCount>());
    counts.push_back(std::move(count));
  }
  return counts;
}

}  // namespace assay::report
