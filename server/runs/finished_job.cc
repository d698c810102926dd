#include "server/runs/finished_job.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <string>
#include <utility>

#include "base/log.h"
#include "tools/model/public_verdict.h"

namespace assay::server {
namespace {

using sandbox::Outcome;
using sandbox::Verdict;

bool is_skipped(const Verdict& verdict, const std::string& id) {
  return std::any_of(verdict.skipped_cases.begin(), verdict.skipped_cases.end(),
                     [&](const sandbox::SkippedCases& skip) {
                       return std::find(skip.ids.begin(), skip.ids.end(), id) != skip.ids.end();
                     });
}

/// Returns the number of hidden cases that the device skipped. A verdict contains only this number,
/// not the names of these cases.
std::int64_t hidden_skips(const Verdict& verdict) {
  std::int64_t total = 0;
  for (const sandbox::SkippedCases& skip : verdict.skipped_cases)
    total += std::max<std::int64_t>(skip.hidden, 0);
  return total;
}

/// Returns a text about the evidence that a verdict needs for a pass, but does not have. Returns ""
/// if nothing is missing.
std::string missing_evidence(const sandbox::Job& job, const Verdict& verdict) {
  if (job.kind == sandbox::JobKind::compile) return "";  // a compile job judges no cases
  std::size_t judged = 0;
  std::int64_t unnamed = hidden_skips(verdict);
  for (const auto& request : job.cases) {
    const auto count =
        std::count_if(verdict.cases.begin(), verdict.cases.end(), [&](const auto& record) {
          return record.id == request.id && record.outcome == Outcome::pass;
        });
    if (count > 1) return "two records of case " + request.id;
    if (count == 0 && !is_skipped(verdict, request.id)) {
      if (!request.hidden || unnamed == 0) return "no passing record of case " + request.id;
      --unnamed;
    }
    judged += static_cast<std::size_t>(count);
  }
  if (judged == 0) return "no case was judged";
  if (judged != verdict.cases.size())
    return "a record of a case that did not pass or is not part of the job";
  return "";
}

/// Returns the stages of the job with their times in milliseconds, such as
/// "queue:0.1,execute:812.4".
std::string stage_times(const sandbox::Verdict& verdict) {
  std::string text;
  for (const auto& [stage, ms] : verdict.stage_ms) {
    std::array<char, 48> number{};
    std::snprintf(number.data(), number.size(), "%.1f", ms);
    if (!text.empty()) text += ',';
    text.append(stage).append(":").append(number.data());
  }
  return text;
}

}  // namespace

Verdict checked_verdict(const sandbox::Job& job, Verdict verdict) {
  verdict.job = job.id;
  verdict.kind = job.kind;
  verdict.operator_name = job.operator_name;
  if (verdict.outcome != Outcome::pass) return verdict;
  const std::string missing = missing_evidence(job, verdict);
  if (missing.empty()) return verdict;
  verdict.outcome = Outcome::error;
  verdict.error_kind = sandbox::ErrorKind::internal_error;
  verdict.summary = "the device reported a pass without evidence: " + missing;
  verdict.perf.reset();
  return verdict;
}

Verdict verdict_without_execution(const sandbox::Job& job, sandbox::ErrorKind kind,
                                  std::string summary) {
  Verdict verdict;
  verdict.tells_hidden = false;
  verdict.job = job.id;
  verdict.kind = job.kind;
  verdict.operator_name = job.operator_name;
  verdict.outcome = Outcome::error;
  verdict.error_kind = kind;
  verdict.summary = std::move(summary);
  verdict.tier_reason = "nothing ran";
  return verdict;
}

void log_finished_job(const sandbox::Job& job, tools::JobState state,
                      const sandbox::Verdict& judged) {
  // A client over stdio can read this log. So the line of a grade does not say which stages the
  // grade reached. A submission could otherwise send information about hidden cases to the client,
  // by the choice of the stage at which it stops.
  const tools::PublicVerdict shown = tools::public_verdict(judged, nullptr);
  const Verdict& verdict = shown.verdict();
  log::info("job finished", {{"job", job.id},
                             {"kind", sandbox::to_string(job.kind)},
                             {"operator", job.operator_name},
                             {"device", verdict.provenance.device},
                             {"state", tools::to_string(state)},
                             {"outcome", sandbox::to_string(verdict.outcome)},
                             {"error", sandbox::to_string(verdict.error_kind)},
                             {"ended_in", sandbox::to_string(verdict.stage)},
                             {"tier", sandbox::to_string(verdict.tier)},
                             {"stages_ms", stage_times(verdict)}});
}

}  // namespace assay::server
