#include "server/report/model/metrics.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "metrics/measures.h"
#include "sandbox/job/verdict_builder.h"
#include "server/report/model/rows.h"

namespace assay::report {
namespace {

using sandbox::CaseRecord;
using sandbox::ErrorKind;
using sandbox::Outcome;
using sandbox::Verdict;

/// Returns one value for each case that is large enough to be timed. Returns an empty vector if the
/// submission is not right, or if one of these cases has no value.
std::vector<double> per_case(const ReportRow& row,
                             std::optional<double> (*value_of)(const CaseRecord&)) {
  if (!row.verdict || row.verdict->outcome != Outcome::pass) return {};
  const std::vector<CaseRecord>& cases = row.verdict->cases;
  const std::vector<bool> counts = sandbox::worth_timing(sandbox::costs_of(cases));
  std::vector<double> values;
  for (std::size_t i = 0; i < cases.size(); ++i) {
    if (!counts[i]) continue;
    const std::optional<double> value = value_of(cases[i]);
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

std::optional<double> case_speed_up(const CaseRecord& record) {
  if (!record.latency || !record.baseline_latency) return std::nullopt;
  return record.baseline_latency->median_ns / record.latency->median_ns;
}

std::optional<double> case_speed_up_pytorch(const CaseRecord& record) {
  if (!record.latency || !record.pytorch_ns) return std::nullopt;
  return *record.pytorch_ns / record.latency->median_ns;
}

std::optional<double> case_speed_up_torch_compile(const CaseRecord& record) {
  if (!record.latency || !record.torch_compile_ns) return std::nullopt;
  return *record.torch_compile_ns / record.latency->median_ns;
}

std::optional<double> case_own_share(const CaseRecord& record) { return record.own_share; }

std::optional<double> case_efficiency(const CaseRecord& record) {
  if (!record.latency || !record.floor_ns) return std::nullopt;
  return metrics::efficiency_of_floor(*record.floor_ns, record.latency->median_ns);
}

/// Returns the largest error of the public cases. NaN counts as larger than any number.
std::optional<double> max_error(const ReportRow& row) {
  std::optional<double> largest;
  if (!row.verdict) return largest;
  for (const CaseRecord& record : row.verdict->cases) {
    if (!record.max_abs_error) continue;
    if (std::isnan(*record.max_abs_error)) return record.max_abs_error;
    largest = std::max(largest.value_or(0), *record.max_abs_error);
  }
  return largest;
}

std::optional<double> perf(const ReportRow& row) {
  return row.verdict ? row.verdict->perf : std::nullopt;
}

std::optional<double> speed_up(const ReportRow& row) {
  // The speed-up over PyTorch is a metric of its own.
  if (!row.verdict || row.verdict->baseline.value_or(Baseline::oracle) != Baseline::oracle)
    return std::nullopt;
  return arithmetic_mean(per_case(row, case_speed_up));
}

std::optional<double> speed_up_pytorch(const ReportRow& row) {
  return geometric_mean(per_case(row, case_speed_up_pytorch));
}

std::optional<double> speed_up_torch_compile(const ReportRow& row) {
  return geometric_mean(per_case(row, case_speed_up_torch_compile));
}

std::optional<double> own_kernel_share(const ReportRow& row) {
  return arithmetic_mean(per_case(row, case_own_share));
}

std::optional<double> efficiency(const ReportRow& row) {
  return arithmetic_mean(per_case(row, case_efficiency));
}

std::optional<double> peak_efficiency(const ReportRow& row) {
  const std::vector<double> values = per_case(row, case_efficiency);
  if (values.empty()) return std::nullopt;
  return *std::max_element(values.begin(), values.end());
}

std::optional<double> codebleu(const ReportRow& row) {
  return row.similarity ? std::optional(row.similarity->codebleu) : std::nullopt;
}

// Four metrics are not averaged by the rule of Metric::averaged. `max_error` has no mean. Perf@1
// and fast_p are computed from `perf` and `speed_up_pytorch` by their own rules
// (metrics/summary.h). The mean of CodeBLEU includes wrong submissions.
constexpr std::array<Metric, 9> kMetrics = {{
    {.key = "max_error",
     .title = "Max error",
     .unit = Unit::error,
     .direction = Direction::lower_is_better,
     .of = max_error,
     .averaged = false,
     .table = OperatorTable::all},
    {.key = "perf", .title = "Perf", .of = perf, .averaged = false, .table = OperatorTable::all},
    {.key = "speed_up",
     .title = "Speed-up",
     .of = speed_up,
     .line = "speed-up",
     .remark = "oracle over submission, right ones only",
     .in_short_groups = true},
    {.key = "speed_up_pytorch",
     .title = "Speed-up over PyTorch",
     .of = speed_up_pytorch,
     .averaged = false},
    {.key = "gpu_efficiency",
     .title = "GPU efficiency, mean",
     .unit = Unit::share,
     .of = efficiency,
     .line = "GPU efficiency",
     .remark = "of peak bandwidth or arithmetic, mean over the cases"},
    {.key = kSimilarityKey,
     .title = "CodeBLEU",
     .of = codebleu,
     .averaged = false,
     .remark = "text, against the oracle"},
    {.key = "gpu_efficiency_peak",
     .title = "GPU efficiency, peak",
     .unit = Unit::share,
     .of = peak_efficiency,
     .line = "peak GPU efficiency",
     .remark = "of the best case, as TritonBench has it"},
    {.key = "speed_up_torch_compile",
     .title = "Speed-up over torch.compile",
     .of = speed_up_torch_compile,
     .line = "over torch.compile",
     .remark = "torch.compile over submission, right ones only"},
    {.key = "own_share",
     .title = "Own kernels' share of the time",
     .unit = Unit::share,
     .of = own_kernel_share,
     .line = "own kernels",
     .remark = "of the time; the rest is copies and fills by torch"},
}};

}  // namespace

std::span<const Metric> all_metrics() { return kMetrics; }

const Metric* find_metric(std::span<const Metric> metrics, std::string_view key) {
  const auto found = std::find_if(metrics.begin(), metrics.end(),
                                  [key](const Metric& metric) { return metric.key == key; });
  return found == metrics.end() ? nullptr : &*found;
}

std::optional<double> better_of(Direction direction, std::optional<double> one,
                                std::optional<double> other) {
  if (!one || !other) return one ? one : other;
  return direction == Direction::higher_is_better ? std::max(*one, *other) : std::min(*one, *other);
}

std::optional<metrics::Estimate> mean_of(const metrics::Summary& summary, const Metric& metric) {
  const auto found = summary.means.find(std::string(metric.key));
  return found == summary.means.end() ? std::nullopt : std::optional(found->second);
}

bool ran_to_its_end(const Verdict& verdict) {
  return verdict.outcome == Outcome::pass || verdict.error_kind == ErrorKind::wrong_result ||
         verdict.error_kind == ErrorKind::output_mismatch ||
         verdict.error_kind == ErrorKind::hidden_case ||  // it ran the public cases to their end
         verdict.error_kind == ErrorKind::unattributed ||
         verdict.error_kind == ErrorKind::floor_violation ||
         verdict.error_kind == ErrorKind::memory_error || verdict.error_kind == ErrorKind::race;
}

std::optional<double> generalisation_of(const Verdict& whole) {
  if (whole.outcome != Outcome::pass) return std::nullopt;
  const std::vector<bool> counts = sandbox::worth_timing(sandbox::costs_of(whole.cases));
  std::vector<double> open, hidden;
  for (std::size_t i = 0; i < whole.cases.size(); ++i) {
    if (!counts[i]) continue;
    const std::optional<double> speed = case_speed_up(whole.cases[i]);
    if (!speed || !std::isfinite(*speed) || *speed <= 0) return std::nullopt;
    (whole.cases[i].hidden ? hidden : open).push_back(*speed);
  }
  const std::optional<double> unseen = geometric_mean(hidden), seen = geometric_mean(open);
  if (!unseen || !seen) return std::nullopt;
  return *unseen / *seen;
}

std::optional<double> mean_generalisation(const std::vector<double>& values) {
  return values.size() < kLeastGeneralised ? std::nullopt : geometric_mean(values);
}

metrics::Sample sample_of(const ReportRow& row, std::span<const Metric> metrics) {
  metrics::Sample sample;
  if (!row.verdict) return sample;
  sample.called = ran_to_its_end(*row.verdict);
  sample.right = row.verdict->outcome == Outcome::pass;
  if (!sample.right) return sample;
  sample.perf = perf(row);
  sample.speed_up_pytorch = speed_up_pytorch(row);
  sample.speed_up_torch_compile = speed_up_torch_compile(row);
  for (const Metric& metric : metrics) {
    if (!metric.averaged) continue;
    if (const std::optional<double> value = metric.of(row))
      sample.values.emplace(metric.key, *value);
  }
  return sample;
}

}  // namespace assay::report
