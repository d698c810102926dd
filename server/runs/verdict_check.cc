#include "server/runs/verdict_check.h"

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>

namespace assay::server {
namespace {

using sandbox::Outcome;
using sandbox::Verdict;

/// Entries have the form "ID: why".
bool is_skipped(const Verdict& verdict, const std::string& id) {
  return std::any_of(verdict.skipped_cases.begin(), verdict.skipped_cases.end(),
                     [&](const std::string& skip) {
                       return std::string_view(skip).substr(0, skip.find(':')) == id;
                     });
}

/// Devices may count the hidden cases that they skip instead of naming them: "3 hidden: why".
std::size_t hidden_skips(const Verdict& verdict) {
  std::size_t total = 0;
  for (const std::string& skip : verdict.skipped_cases) {
    std::size_t count = 0;
    const auto [end, error] = std::from_chars(skip.data(), skip.data() + skip.size(), count);
    const std::string_view rest(end, static_cast<std::size_t>(skip.data() + skip.size() - end));
    if (error == std::errc{} && rest.starts_with(" hidden:")) total += count;
  }
  return total;
}

/// What a pass lacks; empty when it is complete.
std::string missing_evidence(const sandbox::Job& job, const Verdict& verdict) {
  if (job.kind == sandbox::JobKind::compile) return "";  // nothing ran
  std::size_t judged = 0;
  std::size_t unnamed = hidden_skips(verdict);
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
  if (judged == 0) return "not one case was judged";
  if (judged != verdict.cases.size())
    return "a record of a case that did not pass or was not asked for";
  return "";
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
  verdict.job = job.id;
  verdict.kind = job.kind;
  verdict.operator_name = job.operator_name;
  verdict.outcome = Outcome::error;
  verdict.error_kind = kind;
  verdict.summary = std::move(summary);
  verdict.tier_reason = "nothing ran";
  return verdict;
}

bool is_ours(sandbox::ErrorKind kind) {
  using sandbox::ErrorKind;
  return kind == ErrorKind::aborted || kind == ErrorKind::device_unhealthy ||
         kind == ErrorKind::internal_error;
}

}  // namespace assay::server
