// Tests that every form of a report names the baseline of Perf.
#include <optional>
#include <string>

#include "base/json.h"
#include "server/report/text/forms.h"
#include "tests/catch.h"

using namespace assay;
using namespace assay::report;

namespace {

/// Returns an attempt that is three times as fast as PyTorch eager.
tools::OperatorScore timed_over_eager(const std::string& name) {
  sandbox::CaseRecord record;
  record.id = "large";
  record.outcome = sandbox::Outcome::pass;
  record.latency.emplace().median_ns = 1'000;
  record.baseline_latency.emplace().median_ns = 3'000;
  record.pytorch_ns = 3'000;
  sandbox::Verdict verdict;
  verdict.operator_name = name;
  verdict.outcome = sandbox::Outcome::pass;
  verdict.stage = sandbox::Stage::done;
  verdict.provenance.device = "cuda:0";
  verdict.baseline = Baseline::torch_eager;
  verdict.perf = 3;
  verdict.cases = {record};
  tools::OperatorScore score;
  score.operator_name = name;
  score.split = "standard";
  score.submitted = true;
  score.job = "job_" + name;
  score.verdict = verdict;
  return score;
}

/// Returns the rest of the line in which `word` occurs first, beginning with `word`.
std::string part_after(const std::string& text, const std::string& word) {
  const std::size_t at = text.find(word);
  return at == std::string::npos ? "" : text.substr(at, text.find('\n', at) - at);
}

}  // namespace

TEST_CASE("a report names the baseline of Perf, and averages no Perf of different baselines") {
  tools::Scorecard card;
  card.run.handle = "run_eager";
  card.run.request = {"mine", "openai:m", tools::Track::one_shot, "all"};
  card.operators = {timed_over_eager("a"), timed_over_eager("b")};
  Report report = make_report(card);
  CHECK(report.totals.perf_at_1.value() == Approx(3));
  CHECK(part_after(report_as_table(report), "perf@1").find("3.000 over PyTorch eager") !=
        std::string::npos);
  nlohmann::json document = nlohmann::json::parse(report_as_json(report));
  CHECK(document["totals"]["baseline"] == "torch_eager");
  CHECK(document["operators"][0]["baseline"] == "torch_eager");
  CHECK(document["operators"][0]["speed_up"].is_null());  // it compares with an oracle
  CHECK(document["operators"][0]["speed_up_pytorch"] == Approx(3));
  CHECK(document["metrics"]["all"]["fast_p_oracle"].is_null());
  CHECK(part_after(report_as_csv(report), ",a,").ends_with(",torch_eager\r"));

  card.operators[1].verdict->baseline = Baseline::oracle;
  report = make_report(card);
  CHECK_FALSE(report.totals.perf_at_1);
  CHECK(report.totals.no_perf_reason == tools::kMixedBaselines);
  CHECK_FALSE(report.by_split.begin()->second.perf_at_1);
  document = nlohmann::json::parse(report_as_json(report));
  CHECK(document["totals"]["baseline"].is_null());
  CHECK(document["totals"]["no_perf_reason"] == tools::kMixedBaselines);
}
