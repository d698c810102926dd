#include "server/report/text/forms.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/json.h"
#include "tests/catch.h"
#include "tools/model/outcome_names.h"

using namespace assay;
using namespace assay::report;
using sandbox::ErrorKind;
using sandbox::Outcome;
using sandbox::Stage;

namespace {

tools::OperatorScore score_of(const std::string& name, Outcome outcome, ErrorKind kind,
                              Stage stage) {
  tools::OperatorScore score;
  score.operator_name = name;
  score.split = "standard";
  score.submitted = true;
  score.job = "job_" + name;
  score.tool_calls = 3;
  sandbox::Verdict verdict;
  verdict.operator_name = name;
  verdict.outcome = outcome;
  verdict.error_kind = kind;
  verdict.stage = stage;
  verdict.summary = "summary of " + name;
  verdict.tier = sandbox::Tier::interpreter;
  verdict.provenance.device = "cpu";
  verdict.stage_ms = {{"queue", 700}, {"import", 100}, {"run", 400}};
  score.verdict = verdict;
  return score;
}

sandbox::CaseRecord record_of(const std::string& id, Outcome outcome, std::optional<double> error,
                              const std::string& reason) {
  sandbox::CaseRecord record;
  record.id = id;
  record.outcome = outcome;
  record.max_abs_error = error;
  record.reason = reason;
  return record;
}

/// Returns a scorecard with an operator for each kind of result: right, slow, wrong, does not
/// compile (two operators), error, needs a GPU, and not submitted.
tools::Scorecard example() {
  tools::Scorecard card;
  card.run.handle = "run_0123456789abcdefghjkmnpqrs";
  card.run.request = {"one_shot", "scripted (no model)", tools::Track::one_shot, "all"};
  card.operators.push_back(score_of("good", Outcome::pass, ErrorKind::none, Stage::done));
  card.operators.back().verdict->cases = {record_of("a", Outcome::pass, 0.001, ""),
                                          record_of("b", Outcome::pass, 0.002, "")};
  card.operators.push_back(score_of("slow_one", Outcome::pass, ErrorKind::none, Stage::done));
  card.operators.back().verdict->hints = {
      {sandbox::HintKind::other, "", "reads x twice"},
      {sandbox::HintKind::would_be_slow, "", "would be slow: its widest launch has 1 program"}};
  card.operators.push_back(
      score_of("wrong_one", Outcome::fail, ErrorKind::wrong_result, Stage::judge));
  card.operators.back().verdict->cases = {
      record_of("a", Outcome::pass, 0.001, ""),
      record_of("hidden_b", Outcome::fail, 1.5, "3 of 9 elements differ")};
  card.operators.back().verdict->cases[1].hidden = true;
  card.operators.push_back(
      score_of("syntax", Outcome::error, ErrorKind::syntax_error, Stage::import));
  card.operators.back().verdict->diagnostic =
      sandbox::Diagnostic{"SyntaxError", "expected ':'", 18, "def f(x)", ""};
  card.operators.push_back(
      score_of("compiler", Outcome::error, ErrorKind::compilation_error, Stage::compile));
  card.operators.back().verdict->diagnostic =
      sandbox::Diagnostic{"CompilationError", "<b>no attribute</b>\n\x1b[31m'matmul'", 14, "", ""};
  card.operators.push_back(score_of("crashed", Outcome::error, ErrorKind::crash, Stage::run));
  card.operators.back().verdict->detail = "SIGSEGV";
  card.operators.push_back(
      score_of("gluon_add", Outcome::error, ErrorKind::unsupported, Stage::run));
  tools::OperatorScore missing;
  missing.operator_name = "missing_one";
  missing.split = "ood";
  card.operators.push_back(missing);
  card.submitted = 7;
  card.passed = 2;
  card.pass_at_1 = 0.25;
  return card;
}

std::string line_with(const std::string& text, const std::string& word) {
  const std::size_t at = text.find(word);
  if (at == std::string::npos) return "";
  const std::size_t begin = text.rfind('\n', at) + 1;
  return text.substr(begin, text.find('\n', at) - begin);
}

}  // namespace

TEST_CASE("rows explain themselves and totals add up") {
  const Report report = make_report(example());
  const Metric* max_error = find_metric(report.metrics, "max_error");
  REQUIRE(report.rows.size() == 8);
  CHECK(report.scripted());
  CHECK(max_error->of(report.rows[0]) == 0.002);
  CHECK(report.rows[1].explanation == "right, but would be slow: its widest launch has 1 program");
  // If hidden cases are wrong, a report says only that at least one hidden case is wrong.
  CHECK(report.rows[2].explanation.find("at least one hidden case is wrong") != std::string::npos);
  CHECK(report.rows[2].explanation.find("3 of 9") == std::string::npos);
  CHECK(report.rows[3].explanation == "line 18: SyntaxError: expected ':'");
  CHECK(report.rows[4].explanation.find('\x1b') == std::string::npos);
  CHECK(report.rows[5].explanation == "summary of crashed: SIGSEGV");
  CHECK(report.rows[7].explanation == "there is no submission");
  CHECK(report.totals.labels.at("does not compile") == 2);
  CHECK(report.totals.call_accuracy == Approx(3.0 / 8));
  CHECK(report.totals.execution_accuracy == Approx(2.0 / 8));
  CHECK(report.totals.errors.at("Syntax").at("SyntaxError") == 1);
  CHECK(report.totals.errors.at("Runtime & Logic").at("ResultsError") == 1);
  CHECK(report.totals.no_perf_reason == "nothing was timed on device cpu");
  CHECK(report.totals.tool_calls == 21);
  CHECK(report.totals.sandbox_ms == Approx(3'500));
}

TEST_CASE("a NaN error is the largest error") {
  tools::Scorecard card = example();
  card.operators[2].verdict->cases[0].max_abs_error = std::numeric_limits<double>::quiet_NaN();
  const Report report = make_report(card);
  CHECK(nlohmann::json::parse(report_as_json(report))["operators"][2]["max_error"] == "nan");
}

TEST_CASE(
    "the table has one line for each operator, aligned columns and a note if no model answered") {
  const std::string text = report_as_table(make_report(example()));
  CHECK(text.find("scripted (no model)") != std::string::npos);
  CHECK(text.find("never ranked") != std::string::npos);
  CHECK(line_with(text, "slow_one").find("pass, slow") != std::string::npos);
  CHECK(line_with(text, "gluon_add").find("needs a GPU") != std::string::npos);
  CHECK(line_with(text, "syntax ").find("line 18") ==
        line_with(text, "operator ").find("explanation"));
  CHECK(line_with(text, "pass@1").find("25.0 %") != std::string::npos);
  CHECK(line_with(text, "perf@1").find("none (nothing was timed on device cpu)") !=
        std::string::npos);
  CHECK(line_with(text, "Runtime & Logic").find("ResultsError 1") != std::string::npos);
  tools::Scorecard real = example();
  real.run.request.model = "openai:gpt-5";
  CHECK(report_as_table(make_report(real)).find("never ranked") == std::string::npos);
}

TEST_CASE("json is complete and parses") {
  const nlohmann::json document = nlohmann::json::parse(report_as_json(make_report(example())));
  CHECK(document["format"] == kReportFormat);
  CHECK(document["run"]["ranked"] == false);
  CHECK(document["operators"].size() == 8);
  CHECK(document["operators"][2]["label"] == "wrong");
  CHECK(document["totals"]["perf_at_1"].is_null());
  CHECK(document["totals"]["passed"] == 2);
}

TEST_CASE("csv: quoting, formulas, one line per operator") {
  tools::Scorecard card = example();
  card.operators[5].verdict->summary = "=cmd|' /C calc'!A0, \"quoted\"";
  const std::string text = report_as_csv(make_report(card));
  CHECK(text.find("\"'=cmd|' /C calc'!A0, \"\"quoted\"\": SIGSEGV\",") != std::string::npos);
  CHECK(std::count(text.begin(), text.end(), '\n') == 9);
  CHECK(text.find("\"pass, slow\"") != std::string::npos);
}

TEST_CASE("every error type of the taxonomy is in the table of groups") {
  for (int kind = 0; kind <= static_cast<int>(ErrorKind::internal_error); ++kind) {
    const auto found = tools::error_type(static_cast<ErrorKind>(kind));
    if (!found) continue;
    const std::vector<std::pair<std::string, std::string>> error = {
        {std::string(found->group), std::string(found->type)}};
    CHECK(metrics::count_errors(error));
  }
}

TEST_CASE("error groups count every attempt") {
  const Report report = make_report(example());
  REQUIRE(report.error_groups.size() == 4);
  CHECK(report.error_groups[0].total == 1);
  CHECK(report.error_groups[1].total == 0);
  CHECK(report.error_groups[3].total == 3);  // ResultsError, CompilationError, RuntimeError
  const nlohmann::json document = nlohmann::json::parse(report_as_json(report));
  CHECK(document["metrics"]["error_groups"]["Runtime & Logic"]["types"]["ResultsError"] == 1);
  CHECK(document["metrics"]["error_groups"]["Runtime & Logic"]["types"]["ValueError"] == 0);
}

TEST_CASE("every form shows where attempts ended") {
  const Report report = make_report(example());
  const nlohmann::json document = nlohmann::json::parse(report_as_json(report));
  const nlohmann::json& stages = document["metrics"]["stages"];
  CHECK(stages["compile"]["attempts"] == 2);
  CHECK(stages["compile"]["error_groups"]["Syntax"]["types"]["SyntaxError"] == 1);
  CHECK(stages["compile"]["error_groups"]["Runtime & Logic"]["total"] == 1);
  CHECK(stages["run_tests"]["attempts"] == 1);  // this attempt crashed, so its cases are unknown
  CHECK(stages["submit"]["attempts"] == 1);     // this attempt is wrong on a hidden case
  CHECK(document["operators"][2]["died_at"] == "submit");
  CHECK(document["operators"][2]["died_of"] == "ResultsError");
  CHECK(document["operators"][0]["died_at"].get<std::string>().empty());
  const std::string table = report_as_table(report);
  CHECK(line_with(table, "run_tests ") ==
        "run_tests  1         0       0                 0                 1                0");
  CHECK(line_with(report_as_csv(report), ",compiler,").find(",compile,CompilationError,0") !=
        std::string::npos);
  CHECK(line_with(report_as_csv(report), ",good,").find(",,,0") != std::string::npos);
}

TEST_CASE("several runs are samples of one configuration") {
  tools::Scorecard second = example();
  second.run.handle = "run_second";
  second.operators[0].verdict->outcome = Outcome::fail;
  second.operators[0].verdict->error_kind = ErrorKind::wrong_result;
  const Result<Report> report = make_report({example(), second}, nullptr);
  REQUIRE(report);
  CHECK(report->rows.size() == 16);
  CHECK(report->rows[0].operator_name == report->rows[1].operator_name);
  CHECK(report->rows[1].sample == 2);
  CHECK(report->totals.operators == 8);
  CHECK(report->totals.attempts == 16);
  CHECK(report->totals.passed == 3);
  CHECK(report->totals.pass_at_1 == Approx(1.5 / 8));
  REQUIRE(report->pass_at_k.size() == 2);
  CHECK(report->pass_at_k[1].execution.value == Approx(2.0 / 8));
  CHECK(report_as_table(*report).find("good #2") != std::string::npos);
  CHECK(line_with(report_as_table(*report), "pass@2").find("25.0 %") != std::string::npos);
  CHECK(line_with(report_as_csv(*report), "run_second").find(",good,") != std::string::npos);
  CHECK(nlohmann::json::parse(report_as_json(*report))["run"]["samples"].size() == 2);
  second.run.request.model = "another";
  const Result<Report> refused = make_report({example(), second}, nullptr);
  REQUIRE_FALSE(refused);
  CHECK(refused.error().code == ErrorCode::invalid_argument);
  CHECK_FALSE(make_report(std::vector<tools::Scorecard>{}, nullptr));
}

TEST_CASE("a run whose label says (no model) is never ranked") {
  tools::Scorecard card = example();
  card.run.request.model = "sim:7 (no model)";
  CHECK(make_report(card).scripted());
  CHECK(nlohmann::json::parse(report_as_json(make_report(card)))["run"]["ranked"] == false);
  card.run.request.model = "openai:gpt-5";
  CHECK_FALSE(make_report(card).scripted());
}

TEST_CASE("a replay has its own note, because a model answered the recording") {
  tools::Scorecard card = example();
  card.run.request.model = "replay of openai:gpt-5 (no model)";
  const Report report = make_report(card);
  const std::string text = report_as_table(report);
  CHECK(text.find("A replay: recorded replies, graded anew without a model. It is never ranked.") !=
        std::string::npos);
  CHECK(text.find("No model answered") == std::string::npos);
}

TEST_CASE("times: perf, speed-up and efficiency of a timed run, and costs") {
  tools::Scorecard card;
  card.run.handle = "run_timed";
  card.run.request = {"mine", "openai:m", tools::Track::one_shot, "all"};
  card.usage = {.cost_usd = 6, .cost_known = true};
  for (const double perf : {0.5, 1.5}) {
    card.operators.push_back(
        score_of(perf < 1 ? "slower" : "faster", Outcome::pass, ErrorKind::none, Stage::done));
    sandbox::Verdict& verdict = *card.operators.back().verdict;
    verdict.provenance.device = "cuda:0";
    verdict.perf = perf;
    sandbox::CaseRecord record = record_of("a", Outcome::pass, 0, "");
    record.latency.emplace().median_ns = 1'000;
    record.baseline_latency.emplace().median_ns = 1'000 * perf;
    record.pytorch_ns = 4'000 * perf;
    record.floor_ns = 250;
    verdict.cases = {record};
    record.id = "b";
    record.floor_ns = 750;
    if (perf < 1) verdict.cases.push_back(record);
  }
  card.operators.push_back(score_of("wrong", Outcome::fail, ErrorKind::wrong_result, Stage::judge));
  Report report = make_report(card);
  CHECK(report.totals.perf_at_1.value() == Approx(2.0 / 3));
  CHECK(report.all.means.at("speed_up").value == Approx(1.0));
  CHECK(report.all.means.at("gpu_efficiency").value == Approx((0.5 + 0.25) / 2));
  CHECK(report.all.means.at("gpu_efficiency_peak").value == Approx((0.75 + 0.25) / 2));
  const nlohmann::json document = nlohmann::json::parse(report_as_json(report));
  CHECK(document["operators"][0]["gpu_efficiency"] == Approx(0.5));
  CHECK(document["operators"][0]["gpu_efficiency_peak"] == Approx(0.75));
  CHECK(document["metrics"]["all"]["gpu_efficiency_peak"]["value"] == Approx(0.5));
  CHECK(line_with(report_as_table(report), "peak GPU efficiency").find("50.0 %") !=
        std::string::npos);
  CHECK(line_with(report_as_table(report), "mean over the cases").find("37.5 %") !=
        std::string::npos);
  CHECK(line_with(report_as_csv(report), ",slower,").find(",0.75,,,,,6") != std::string::npos);
  CHECK(document["operators"][0]["speed_up_pytorch"] == Approx(2.0));
  CHECK(report.totals.cost_per_solved.value() == Approx(3));
  CHECK(report.totals.cost_per_pass_rate.value() == Approx(9));
  CHECK(report.totals.cost_per_perf.value() == Approx(9));
  CHECK(line_with(report_as_table(report), "cost")
            .find("$3.0000 per solved operator, $9.0000 over the pass rate") != std::string::npos);
  // If one right submission has no time, Perf@1 is unknown.
  card.operators[0].verdict->perf.reset();
  report = make_report(card);
  CHECK_FALSE(report.totals.perf_at_1);
  CHECK(report.totals.no_perf_reason == "1 of 2 right submissions were not timed");
}

TEST_CASE("a cost that is not known is never shown as 0, in any form") {
  tools::Scorecard card = example();
  card.run.request.model = "openai:gpt-5";
  const auto forms = [&card](const tools::Usage& usage) {
    card.usage = usage;
    const Report report = make_report(card);
    const nlohmann::json totals = nlohmann::json::parse(report_as_json(report))["totals"];
    const std::string csv = report_as_csv(report);
    const std::string row = csv.substr(csv.find('\n') + 1);
    const std::string line = row.substr(0, row.find("\r\n"));
    const std::string first = line.substr(0, line.rfind(','));  // the last column is the baseline
    return std::vector<std::string>{totals["cost_usd"].dump(), totals["known_cost_usd"].dump(),
                                    first.substr(first.rfind(',') + 1),
                                    line_with(report_as_table(report), "cost  ")};
  };
  const auto has = [](const std::string& text, const std::string& word) {
    return text.find(word) != std::string::npos;
  };
  std::vector<std::string> shown = forms({});
  CHECK(shown[0] == "null");
  CHECK(shown[2] == "not known");
  CHECK(shown[3] == "cost                not known");
  shown = forms({.cost_known = true});
  CHECK(shown[0] == "0.0");
  CHECK(shown[2] == "0");
  CHECK(has(shown[3], "$0.0000 ($0.0000 per solved operator"));
  shown = forms({.cost_usd = 0.5});
  CHECK(shown[0] == "null");
  CHECK(shown[1] == "0.5");
  CHECK(shown[2] == "not known");
  CHECK(shown[3] == "cost                not known, at least $0.5000");
  card.run.request.model = "sim:7 (no model)";
  shown = forms({});
  CHECK(shown[0] == "0.0");
  CHECK(shown[3] == "cost                none");
}

TEST_CASE("the cost of several runs is known if the cost of each is") {
  tools::Scorecard first = example();
  first.run.request.model = "openai:gpt-5";
  first.usage = {.cost_usd = 1, .cost_known = true};
  tools::Scorecard second = first;
  second.run.handle = "run_second";
  for (const bool known : {true, false}) {
    second.usage.cost_known = known;
    for (const std::vector<tools::Scorecard>& runs :
         {std::vector{first, second}, std::vector{second, first}}) {
      const Result<Report> report = make_report(runs, nullptr);
      REQUIRE(report);
      CHECK(report->usage.cost_known == known);
      CHECK(report->usage.cost_usd == 2);
    }
  }
}
