#include "sandbox/job/verdict_builder.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <utility>

#include "base/handle.h"

namespace assay::sandbox {
namespace {

std::string number(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.3g", value);
  return text;
}

std::string count_of(std::size_t count, const std::string& noun) {
  return std::to_string(count) + " " + noun + (count == 1 ? "" : "s");
}

std::string summarise_pass(const Verdict& verdict, const std::string& allowed) {
  // An imported verdict has no records, and no judge passes a job without one.
  if (verdict.cases.empty()) return "pass, without records of cases";
  double worst = 0;
  for (const CaseRecord& record : verdict.cases)
    worst = std::max(worst, record.max_abs_error.value_or(0));
  std::string text = "pass: " + count_of(verdict.cases.size(), "case") +
                     " right, largest scaled error " + number(worst);
  if (!allowed.empty()) text += " " + allowed;
  if (verdict.perf)
    text += ", perf " + number(*verdict.perf) + " (" +
            std::string(title_of(verdict.baseline.value_or(Baseline::oracle))) +
            " latency / yours)";
  return text;
}

std::string summarise_failure(const Verdict& verdict) {
  const auto failed = [](const CaseRecord& record) { return record.outcome != Outcome::pass; };
  const auto first = std::find_if(verdict.cases.begin(), verdict.cases.end(), failed);
  if (first == verdict.cases.end())
    return "fail (" + std::string(to_string(verdict.error_kind)) + "): " + verdict.detail;
  const auto count = std::count_if(verdict.cases.begin(), verdict.cases.end(), failed);
  std::string text = "fail (" + std::string(to_string(verdict.error_kind)) +
                     "): " + std::to_string(count) + " of " +
                     count_of(verdict.cases.size(), "case") + " wrong";
  return text + "; case '" + first->id + "': " + first->reason;
}

std::string summarise_error(const Verdict& verdict) {
  std::string text = "error (" + std::string(to_string(verdict.error_kind)) + ") at stage " +
                     std::string(to_string(verdict.stage));
  if (verdict.diagnostic && !verdict.diagnostic->message.empty()) {
    if (verdict.diagnostic->line) text += ", line " + std::to_string(*verdict.diagnostic->line);
    text += ": " +
            (verdict.diagnostic->exception.empty() ? "" : verdict.diagnostic->exception + ": ") +
            verdict.diagnostic->message;
  } else if (!verdict.detail.empty()) {
    text += ": " + verdict.detail;
  }
  return text;
}

}  // namespace

bool has_oracle(const Job& job) {
  return !job.baseline_source.empty() || (job.distant_sources && job.distant_sources->has_oracle);
}

Verdict begin_verdict(const Job& job) {
  Verdict verdict;
  verdict.job = job.id;
  verdict.kind = job.kind;
  verdict.operator_name = job.operator_name;
  verdict.language = job.language;
  verdict.tells_hidden = false;
  const bool timed = job.kind == JobKind::profile || job.kind == JobKind::grade;
  if (timed && (job.baseline != Baseline::oracle || has_oracle(job)))
    verdict.baseline = job.baseline;
  verdict.provenance.assay = ASSAY_VERSION;
  verdict.provenance.suite_id = job.suite_id;
  if (job.plans.empty()) {
    verdict.provenance.source_sha256 =
        job.distant_sources ? job.distant_sources->sha256 : sha256_hex(job.source);
  } else {
    auto& plans = verdict.provenance.plans.emplace();
    for (const auto& [id, plan] : job.plans) plans[id] = sha256_hex(plan);
  }
  return verdict;
}

void end_with_error(Verdict& verdict, ErrorKind kind, Stage stage, std::string detail) {
  if (verdict.error_kind != ErrorKind::none && verdict.outcome == Outcome::error) return;
  verdict.outcome = Outcome::error;
  verdict.error_kind = kind;
  verdict.stage = stage;
  verdict.detail = std::move(detail);
}

void add_record(Verdict& verdict, CaseRecord record, ErrorKind kind) {
  if (record.outcome != Outcome::pass && verdict.error_kind == ErrorKind::none) {
    verdict.error_kind = kind;
    verdict.outcome = Outcome::fail;
  }
  verdict.cases.push_back(std::move(record));
}

void add_hint(Verdict& verdict, Hint hint) {
  const bool known = std::any_of(verdict.hints.begin(), verdict.hints.end(), [&](const Hint& one) {
    return one.kind == hint.kind && one.text == hint.text;
  });
  if (!known) verdict.hints.push_back(std::move(hint));
}

void conclude(Verdict& verdict, const std::vector<std::string>& required_cases) {
  const bool ended = verdict.outcome == Outcome::error && verdict.error_kind != ErrorKind::none;
  if (!ended) {
    verdict.stage = Stage::done;
    const bool failed =
        std::any_of(verdict.cases.begin(), verdict.cases.end(),
                    [](const CaseRecord& record) { return record.outcome != Outcome::pass; });
    const bool complete =
        !required_cases.empty() &&
        std::all_of(required_cases.begin(), required_cases.end(), [&](const std::string& id) {
          return std::count_if(verdict.cases.begin(), verdict.cases.end(),
                               [&](const CaseRecord& record) { return record.id == id; }) == 1;
        });
    if (failed) {
      verdict.outcome = Outcome::fail;
      if (verdict.error_kind == ErrorKind::none) verdict.error_kind = ErrorKind::wrong_result;
    } else if (!complete || verdict.cases.size() != required_cases.size()) {
      end_with_error(verdict, ErrorKind::protocol_error, Stage::judge,
                     "not every case has exactly one complete record");
    } else {
      verdict.outcome = Outcome::pass;
      verdict.perf = geometric_mean_perf(verdict.cases);
    }
  }
  // Outputs with a wrong dtype or shape are a wrong answer, whichever process detects them. So the
  // outcome is `fail` and not `error`.
  if (verdict.error_kind == ErrorKind::output_mismatch) verdict.outcome = Outcome::fail;
  verdict.summary = summarise(verdict);
}

std::optional<double> geometric_mean_perf(const std::vector<CaseRecord>& cases) {
  if (cases.empty()) return std::nullopt;
  const std::vector<bool> counts = worth_timing(costs_of(cases));
  double sum = 0;
  for (std::size_t i = 0; i < cases.size(); ++i) {
    const CaseRecord& record = cases[i];
    if (!counts[i]) continue;
    if (!record.latency || !record.baseline_latency || record.latency->median_ns <= 0 ||
        record.baseline_latency->median_ns <= 0)
      return std::nullopt;
    sum += std::log(record.baseline_latency->median_ns / record.latency->median_ns);
  }
  return std::exp(sum / static_cast<double>(std::count(counts.begin(), counts.end(), true)));
}

std::string summarise(const Verdict& verdict, const std::string& allowed) {
  switch (verdict.outcome) {
    case Outcome::pass:
      if (verdict.kind == JobKind::compile)
        return "compiled: " + count_of(verdict.kernels.size(), "kernel");
      return summarise_pass(verdict, allowed);
    case Outcome::fail: return summarise_failure(verdict);
    case Outcome::error: return summarise_error(verdict);
  }
  return summarise_error(verdict);
}

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
