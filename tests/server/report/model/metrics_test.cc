#include "server/report/model/metrics.h"

#include <cmath>
#include <limits>
#include <memory>
#include <nlohmann/json.hpp>
#include <set>
#include <vector>

#include "server/report/html/page.h"
#include "server/report/model/rows.h"
#include "server/report/text/forms.h"
#include "tests/catch.h"

using namespace assay;
using namespace assay::report;

namespace {

sandbox::CaseRecord timed_case(double ns, double oracle_ns, double pytorch_ns, double floor_ns) {
  sandbox::CaseRecord record;
  record.latency.emplace().median_ns = ns;
  record.baseline_latency.emplace().median_ns = oracle_ns;
  record.pytorch_ns = pytorch_ns;
  record.floor_ns = floor_ns;
  return record;
}

ReportRow row_of(const sandbox::Verdict& verdict) {
  ReportRow row;
  row.verdict = std::make_shared<const sandbox::Verdict>(verdict);
  return row;
}

std::optional<double> value_of(const sandbox::Verdict& verdict, std::string_view key) {
  const Metric* metric = find_metric(all_metrics(), key);
  REQUIRE(metric != nullptr);
  return metric->of(row_of(verdict));
}

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE(
    "means over the cases: arithmetic for the speed-up and efficiency, geometric over PyTorch") {
  sandbox::Verdict verdict;
  verdict.outcome = sandbox::Outcome::pass;
  verdict.perf = 2;
  verdict.cases = {timed_case(100, 100, 100, 50), timed_case(100, 400, 400, 100)};
  const metrics::Sample sample = sample_of(row_of(verdict), all_metrics());
  CHECK(sample.called);
  CHECK(sample.right);
  CHECK(sample.perf == 2.0);
  CHECK(sample.speed_up_pytorch.value() == Approx(2.0));
  CHECK(sample.values.at("speed_up") == Approx(2.5));
  CHECK(sample.values.at("gpu_efficiency") == Approx(0.75));
  CHECK(sample.values.at("gpu_efficiency_peak") == Approx(1.0));
  CHECK(value_of(verdict, "speed_up_pytorch").value() == Approx(2.0));
}

TEST_CASE("if one case has no time there is no mean") {
  sandbox::Verdict verdict;
  verdict.outcome = sandbox::Outcome::pass;
  verdict.cases = {timed_case(100, 100, 100, 50), sandbox::CaseRecord{}};
  const metrics::Sample sample = sample_of(row_of(verdict), all_metrics());
  CHECK(sample.values.empty());
  CHECK_FALSE(sample.speed_up_pytorch);
}

TEST_CASE("a case that is not worth timing needs no time") {
  sandbox::Verdict verdict;
  verdict.outcome = sandbox::Outcome::pass;
  verdict.cases = {sandbox::CaseRecord{}, timed_case(100, 400, 400, 100)};
  verdict.cases[0].cost_bytes = 99;
  verdict.cases[1].cost_bytes = 800;
  CHECK(value_of(verdict, "speed_up").value() == Approx(4.0));
  verdict.cases[0].cost_bytes = 100;
  CHECK_FALSE(value_of(verdict, "speed_up"));
}

TEST_CASE("a wrong result counts as called, an error does not; neither has times") {
  sandbox::Verdict verdict;
  verdict.outcome = sandbox::Outcome::fail;
  verdict.error_kind = sandbox::ErrorKind::wrong_result;
  verdict.perf = 9;
  verdict.cases = {timed_case(1, 9, 9, 1)};
  const metrics::Sample wrong = sample_of(row_of(verdict), all_metrics());
  CHECK(wrong.called);
  CHECK_FALSE(wrong.perf);
  CHECK(wrong.values.empty());
  verdict.outcome = sandbox::Outcome::error;
  verdict.error_kind = sandbox::ErrorKind::timeout;
  CHECK_FALSE(sample_of(row_of(verdict), all_metrics()).called);
  CHECK_FALSE(sample_of(ReportRow{}, all_metrics()).called);
}

TEST_CASE("the largest error of the cases; NaN is larger than every number") {
  sandbox::Verdict verdict;
  verdict.cases = {sandbox::CaseRecord{}, sandbox::CaseRecord{}};
  CHECK_FALSE(value_of(verdict, "max_error"));
  verdict.cases[0].max_abs_error = 0.5;
  verdict.cases[1].max_abs_error = 0.25;
  CHECK(value_of(verdict, "max_error") == 0.5);
  verdict.cases[1].max_abs_error = std::numeric_limits<double>::quiet_NaN();
  CHECK(std::isnan(value_of(verdict, "max_error").value()));
}

TEST_CASE("keys are unique, and each metric has a direction") {
  std::set<std::string_view> keys;
  for (const Metric& metric : all_metrics()) CHECK(keys.insert(metric.key).second);
  CHECK(find_metric(all_metrics(), "none") == nullptr);
  CHECK(better_of(Direction::higher_is_better, 1.0, 2.0) == 2.0);
  CHECK(better_of(Direction::lower_is_better, 1.0, 2.0) == 1.0);
  CHECK(better_of(Direction::lower_is_better, std::nullopt, 2.0) == 2.0);
}

TEST_CASE("a new metric is one entry: every form shows it") {
  std::vector<Metric> table(all_metrics().begin(), all_metrics().end());
  table.push_back({.key = "toy_cases",
                   .title = "Toy cases",
                   .of = [](const ReportRow& row) -> std::optional<double> {
                     if (!row.verdict) return std::nullopt;
                     return static_cast<double>(row.verdict->cases.size());
                   },
                   .remark = "cases of a right submission",
                   .table = OperatorTable::all});
  tools::Scorecard card;
  card.run.handle = "run_toy";
  tools::OperatorScore score;
  score.operator_name = "op";
  score.submitted = true;
  sandbox::Verdict verdict;
  verdict.outcome = sandbox::Outcome::pass;
  verdict.cases = std::vector<sandbox::CaseRecord>(7);
  score.verdict = verdict;
  card.operators = {score};
  const Report report = make_report(card, nullptr, table);

  const std::string text = report_as_table(report);
  CHECK(has(text, "max error  perf  toy cases  tier"));
  CHECK(has(text, "Toy cases           7.000  (cases of a right submission)\n"));
  const std::string csv = report_as_csv(report);
  CHECK(has(csv, ",perf,toy_cases,tier,"));
  CHECK(has(csv, ",none,,,,,7,"));
  const nlohmann::json document = nlohmann::json::parse(report_as_json(report));
  CHECK(document["operators"][0]["toy_cases"] == 7);
  CHECK(document["metrics"]["all"]["toy_cases"]["value"] == 7);
  const std::string page = report_as_html(report);
  CHECK(has(page, "<th scope=\"col\" class=\"n\">Toy cases</th>"));
  CHECK(has(page, "data-name=\"Toy cases\">7.000</td>"));
}
