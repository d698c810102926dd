#include "server/report/model/metrics.h"

#include <cmath>
#include <limits>
#include <memory>
#include <set>
#include <vector>

#include "base/json.h"
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

TEST_CASE("torch.compile over the submission is a geometric mean, own kernels an arithmetic one") {
  sandbox::Verdict verdict;
  verdict.outcome = sandbox::Outcome::pass;
  verdict.cases = {timed_case(100, 100, 100, 50), timed_case(100, 400, 400, 100)};
  CHECK_FALSE(value_of(verdict, "speed_up_torch_compile"));
  CHECK_FALSE(value_of(verdict, "own_share"));
  verdict.cases[0].torch_compile_ns = 50;
  verdict.cases[0].own_share = 1.0;
  verdict.cases[1].own_share = 0.5;
  CHECK_FALSE(value_of(verdict, "speed_up_torch_compile"));  // one case has no such time
  verdict.cases[1].torch_compile_ns = 200;
  const metrics::Sample sample = sample_of(row_of(verdict), all_metrics());
  CHECK(sample.values.at("speed_up_torch_compile") == Approx(1.0));
  CHECK(sample.values.at("own_share") == Approx(0.75));
}

TEST_CASE("generalisation is the speed-up on hidden cases over that on public ones") {
  sandbox::Verdict verdict;
  verdict.outcome = sandbox::Outcome::pass;
  verdict.cases = {timed_case(100, 200, 1, 1), timed_case(100, 800, 1, 1)};
  CHECK_FALSE(generalisation_of(verdict));  // there is no hidden case
  verdict.cases.push_back(timed_case(100, 100, 1, 1));
  verdict.cases.back().hidden = true;
  CHECK(generalisation_of(verdict).value() == Approx(0.25));
  verdict.cases.back().latency.reset();
  CHECK_FALSE(generalisation_of(verdict));
  CHECK_FALSE(mean_generalisation(std::vector<double>(kLeastGeneralised - 1, 2.0)));
  CHECK(mean_generalisation({1, 4, 1, 4, 2}).value() == Approx(2.0));
}

TEST_CASE(
    "a report tells the generalisation of a scored run as one number, and never of practice") {
  sandbox::Verdict verdict;
  verdict.outcome = sandbox::Outcome::pass;
  verdict.kind = sandbox::JobKind::grade;
  verdict.cases = {timed_case(100, 200, 1, 1), timed_case(100, 123.456, 1, 1)};
  verdict.cases[0].id = "large";
  verdict.cases[1].id = "unseen";
  verdict.cases[1].hidden = true;
  tools::Scorecard card;
  for (std::size_t i = 0; i < kLeastGeneralised; ++i) {
    tools::OperatorScore score;
    score.operator_name = "op" + std::to_string(i);
    score.submitted = true;
    score.verdict = verdict;
    card.operators.push_back(score);
  }
  card.run.request.track = tools::Track::one_shot;
  const Report scored = make_report(card);
  CHECK(scored.totals.generalisation == Approx(0.617));
  CHECK(has(report_as_table(scored), "generalisation      0.617"));
  CHECK(nlohmann::json::parse(report_as_json(scored))["totals"]["generalisation"] == 0.617);
  for (const std::string& form : {report_as_csv(scored), report_as_json(scored)})
    CHECK_FALSE(has(form, "unseen"));
  card.operators.pop_back();
  CHECK_FALSE(make_report(card).totals.generalisation);
  card.operators.push_back(card.operators.front());
  card.run.request.track = tools::Track::practice;
  CHECK_FALSE(make_report(card).totals.generalisation);
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
}
