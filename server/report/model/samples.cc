#include "server/report/model/samples.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <string_view>
#include <vector>

#include "metrics/efficiency.h"
#include "sandbox/job/timed_cases.h"

namespace assay::server {
namespace {

using sandbox::CaseRecord;
using sandbox::ErrorKind;
using sandbox::Outcome;
using sandbox::Verdict;

constexpr std::string_view kNoModel = "(no model)";

/// One number for each case that is worth timing; empty where one of them has none.
std::vector<double> per_case(
    const Verdict& verdict, const std::function<std::optional<double>(const CaseRecord&)>& number) {
  std::vector<double> values;
  const std::vector<bool> counts = sandbox::worth_timing(sandbox::costs_of(verdict.cases));
  for (std::size_t i = 0; i < verdict.cases.size(); ++i) {
    if (!counts[i]) continue;
    const std::optional<double> value = number(verdict.cases[i]);
    if (!value || !std::isfinite(*value) || *value <= 0) return {};
    values.push_back(*value);
  }
  return values;
}

std::optional<double> arithmetic_mean(const std::vector<double>& values) {
  if (values.empty()) return std::nullopt;
  return metrics::mean(values);
}

std::optional<double> geometric_mean(const std::vector<double>& values) {
  if (values.empty()) return std::nullopt;
  double logs = 0;
  for (const double value : values) logs += std::log(value);
  return std::exp(logs / static_cast<double>(values.size()));
}

}  // namespace

bool ran_to_its_end(const Verdict& verdict) {
  return verdict.outcome == Outcome::pass || verdict.error_kind == ErrorKind::wrong_result ||
         verdict.error_kind == ErrorKind::output_mismatch ||
         verdict.error_kind == ErrorKind::unattributed ||
         verdict.error_kind == ErrorKind::floor_violation;
}

metrics::Sample sample_of(const Verdict& verdict) {
  metrics::Sample sample;
  sample.called = ran_to_its_end(verdict);
  sample.right = verdict.outcome == Outcome::pass;
  if (!sample.right) return sample;
  sample.perf = verdict.perf;
  sample.speed_up =
      arithmetic_mean(per_case(verdict, [](const CaseRecord& record) -> std::optional<double> {
        if (!record.latency || !record.baseline_latency) return std::nullopt;
        return record.baseline_latency->median_ns / record.latency->median_ns;
      }));
  sample.speed_up_pytorch =
      geometric_mean(per_case(verdict, [](const CaseRecord& record) -> std::optional<double> {
        if (!record.latency || !record.pytorch_ns) return std::nullopt;
        return *record.pytorch_ns / record.latency->median_ns;
      }));
  const std::vector<double> efficiencies =
      per_case(verdict, [](const CaseRecord& record) -> std::optional<double> {
        if (!record.latency || !record.floor_ns) return std::nullopt;
        return metrics::efficiency_of_floor(*record.floor_ns, record.latency->median_ns);
      });
  sample.efficiency = arithmetic_mean(efficiencies);
  if (!efficiencies.empty())
    sample.peak_efficiency = *std::max_element(efficiencies.begin(), efficiencies.end());
  return sample;
}

std::string replay_label(const std::string& model) {
  std::string label = (model.starts_with(kReplayOf) ? "" : std::string(kReplayOf)) + model;
  if (!names_no_model(label)) label += " " + std::string(kNoModel);
  return label;
}

bool names_no_model(const std::string& model) {
  return std::string_view(model).ends_with(kNoModel);
}

}  // namespace assay::server
