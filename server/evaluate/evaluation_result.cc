#include "server/evaluate/evaluation_result.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/text.h"
#include "sandbox/job/verdict_builder.h"
#include "tools/answer/verdict_answer.h"
#include "tools/model/public_verdict.h"

namespace assay::server {
namespace {

using nlohmann::json;
using sandbox::CaseRecord;
using sandbox::ErrorKind;
using sandbox::HintKind;
using sandbox::Outcome;
using sandbox::Stage;
using sandbox::Verdict;

/// The error kinds and hints of results that look like an attempt to score without the work.
constexpr std::array kSuspectErrors = {ErrorKind::unattributed, ErrorKind::floor_violation,
                                       ErrorKind::canary_violation, ErrorKind::protocol_error,
                                       ErrorKind::invalid_plan};
constexpr std::array kSuspectHints = {HintKind::no_own_kernel, HintKind::unattributed_run,
                                      HintKind::times_not_trusted};

/// Returns the records of the public cases that are large enough to be timed. The records are those
/// that `shown` has, the public verdict. Which cases are large depends on the largest case, which
/// may be a hidden one of `whole`.
std::vector<CaseRecord> timed_cases(const Verdict& whole, const Verdict& shown) {
  const std::vector<bool> counts = sandbox::worth_timing(sandbox::costs_of(whole.cases));
  std::vector<CaseRecord> timed;
  for (std::size_t i = 0; i < counts.size(); ++i) {
    if (!counts[i] || whole.cases[i].hidden) continue;
    for (const CaseRecord& record : shown.cases) {
      if (record.id == whole.cases[i].id) timed.push_back(record);
    }
  }
  return timed;
}

/// Returns the geometric mean of a ratio over the cases. Returns nothing if a case has no ratio: a
/// submission can make its times of a case contradict each other, so that this case has no time,
/// and would choose the cases that count.
std::optional<double> mean_ratio(
    const std::vector<CaseRecord>& timed,
    const std::function<std::optional<double>(const CaseRecord&)>& ratio) {
  if (timed.empty()) return std::nullopt;
  double sum = 0;
  for (const CaseRecord& record : timed) {
    const std::optional<double> value = ratio(record);
    if (!value || !(*value > 0) || !std::isfinite(*value)) return std::nullopt;
    sum += std::log(*value);
  }
  return tools::shown_perf(std::exp(sum / static_cast<double>(timed.size())));
}

/// Returns the mean share of the submission's own kernels. A case that is due and has no share
/// makes it null, as in mean_ratio(): a plan with many operations gets no timeline, so a submission
/// could choose the cases that count.
std::optional<double> mean_own_share(const std::vector<CaseRecord>& timed) {
  if (timed.empty()) return std::nullopt;
  double sum = 0;
  for (const CaseRecord& record : timed) {
    if (!record.latency || !record.own_share) return std::nullopt;
    sum += *record.own_share;
  }
  return tools::shown_perf(sum / static_cast<double>(timed.size()));
}

/// Returns a function for mean_ratio() that divides `time` by the submission's time.
std::function<std::optional<double>(const CaseRecord&)> by_latency(
    std::optional<double> CaseRecord::*time) {
  return [time](const CaseRecord& record) -> std::optional<double> {
    if (!record.latency || !(record.*time)) return std::nullopt;
    return *(record.*time) / record.latency->median_ns;
  };
}

json number_or_null(const std::optional<double>& value) { return value ? json(*value) : json(); }

json suspicions_of(const Verdict& verdict) {
  json found = json::array();
  if (std::find(kSuspectErrors.begin(), kSuspectErrors.end(), verdict.error_kind) !=
      kSuspectErrors.end())
    found.push_back(sandbox::to_string(verdict.error_kind));
  for (const sandbox::Hint& hint : verdict.hints) {
    if (std::find(kSuspectHints.begin(), kSuspectHints.end(), hint.kind) != kSuspectHints.end())
      found.push_back(sandbox::to_string(hint.kind));
  }
  return found;
}

bool has_compiled(const Verdict& verdict) {
  if (verdict.outcome == Outcome::pass) return true;
  if (verdict.error_kind == ErrorKind::compilation_error ||
      verdict.error_kind == ErrorKind::not_recordable ||
      verdict.error_kind == ErrorKind::unsupported)
    return false;
  return verdict.stage >= Stage::launch || verdict.error_kind == ErrorKind::hidden_case;
}

/// Returns the number of cases that the device was to judge. If the job ended early, the verdict
/// has no records of them.
std::size_t case_count(const Verdict& verdict, const operators::Operator* op) {
  const std::size_t records = verdict.cases.size();
  const bool judges =
      verdict.kind == sandbox::JobKind::test || verdict.kind == sandbox::JobKind::grade;
  if (op == nullptr || !judges) return records;
  std::size_t all = 0;
  for (const operators::Case& one : op->cases) all += one.hidden ? 0 : 1;
  for (const sandbox::SkippedCases& skipped : verdict.skipped_cases)
    all -= std::min(all, skipped.ids.size());
  return std::max(records, all);
}

/// Adds the public verdict. `timed` is the result of timed_cases().
void add_verdict(json& result, const Verdict& verdict, const std::vector<CaseRecord>& timed,
                 const operators::Operator* op) {
  std::int64_t passed = 0;
  for (const CaseRecord& record : verdict.cases) passed += record.outcome == Outcome::pass ? 1 : 0;
  json suspicions = suspicions_of(verdict);
  const bool infra = sandbox::is_infrastructure_error(verdict.error_kind);
  result["outcome"] = sandbox::to_string(verdict.outcome);
  result["error_kind"] = sandbox::to_string(verdict.error_kind);
  result["stage"] = sandbox::to_string(verdict.stage);
  result["summary"] = verdict.summary;
  result["compiled"] = has_compiled(verdict);
  result["correct"] = verdict.outcome == Outcome::pass;
  result["cases"] = case_count(verdict, op);
  result["cases_passed"] = passed;
  result["perf"] = number_or_null(tools::shown_perf(verdict.perf));
  result["pytorch"] = number_or_null(mean_ratio(timed, by_latency(&CaseRecord::pytorch_ns)));
  result["sol"] = number_or_null(mean_ratio(timed, by_latency(&CaseRecord::floor_ns)));
  result["own_share"] = number_or_null(mean_own_share(timed));
  result["tier"] = sandbox::to_string(verdict.tier);
  result["device"] = verdict.provenance.device;
  result["suspect"] = !suspicions.empty();
  result["suspicions"] = std::move(suspicions);
  result["infra"] = infra;
  result["masked"] = infra || sandbox::is_inconclusive(verdict.error_kind);
}

}  // namespace

json result_of(const operators::Catalog& catalog, const tools::AnswerLimits& limits,
               const tools::JobStatus& status) {
  json result = {{"id", status.job},
                 {"state", to_string(status.state)},
                 {"stage", status.stage},
                 {"elapsed_ms", status.elapsed_ms}};
  if (status.state == tools::JobState::queued) result["queue_position"] = status.queue_position;
  if (!status.verdict) return result;
  const operators::Operator* op = catalog.find(status.verdict->operator_name);
  const tools::PublicVerdict shown = tools::public_verdict(*status.verdict, op);
  const Verdict& verdict = shown.verdict();
  result["operator"] = verdict.operator_name;
  result["mode"] = sandbox::to_string(verdict.kind);
  result["elapsed_ms"] = tools::shown_elapsed_ms(verdict.kind, status.elapsed_ms);
  add_verdict(result, verdict, timed_cases(*status.verdict, verdict), op);
  tools::JobStatus known = status;
  known.elapsed_ms = result["elapsed_ms"];
  result["feedback"] = cut_lines(tools::verdict_text(verdict, known, tools::Format::concise, op) +
                                     "\nnext: " + escape_line(tools::next_step(verdict, op)),
                                 static_cast<std::size_t>(limits.concise_chars));
  return result;
}

void add_rewards(json& result, const RewardPolicies& policies) {
  if (policies.empty() || !result.contains("outcome")) return;
  if (result["masked"] == true) {
    result["rewards"] = policies.masked();
    return;
  }
  const auto number = [&](const char* key) {
    const json& value = result[key];
    if (value.is_boolean()) return value.get<bool>() ? 1.0 : 0.0;
    return value.is_number() ? value.get<double>() : 0.0;
  };
  const double pytorch = number("pytorch");
  Expression::Variables variables;
  for (const char* key :
       {"compiled", "correct", "cases", "cases_passed", "perf", "sol", "own_share", "suspect"})
    variables[key] = number(key);
  variables["timed"] = result["perf"].is_null() && result["pytorch"].is_null() ? 0 : 1;
  variables["speedup"] = pytorch > 0 ? pytorch : number("perf");
  result["rewards"] = policies.rewards(variables);
}

}  // namespace assay::server
