#include <algorithm>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include "server/cli/report_formats.h"
#include "tests/catch.h"

using namespace assay;
using namespace assay::server;
using sandbox::ErrorKind;
using sandbox::Outcome;
using sandbox::Stage;

namespace {

tools::OperatorScore score_of(const std::string& name, Outcome outcome, ErrorKind kind, Stage stage) {
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
  verdict.stage_ms = {{"import", 100}, {"run", 400}};
  score.verdict = verdict;
  return score;
}

sandbox::CaseRecord record_of(const std::string& id, Outcome outcome, std::optional<double> error, const std::string& reason) {
  sandbox::CaseRecord record;
  record.id = id;
  record.outcome = outcome;
  record.max_abs_error = error;
  record.reason = reason;
  return record;
}

/// One of each: right, slow, wrong, not compiling twice, an error, GPU needed, not submitted.
tools::Scorecard example() {
  tools::Scorecard card;
  card.run.handle = "run_0123456789abcdefghjkmnpqrs";
  card.run.request = {"one_shot", "scripted (no model)", tools::Track::one_shot, "all"};
  card.operators.push_back(score_of("good", Outcome::pass, ErrorKind::none, Stage::done));
  card.operators.back().verdict->cases = {record_of("a", Outcome::pass, 0.001, ""), record_of("b", Outcome::pass, 0.002, "")};
  card.operators.push_back(score_of("slow_one", Outcome::pass, ErrorKind::none, Stage::done));
  card.operators.back().verdict->hints = {"reads x twice", "would be slow: its widest launch has 1 program"};
  card.operators.push_back(score_of("wrong_one", Outcome::fail, ErrorKind::wrong_result, Stage::judge));
  card.operators.back().verdict->cases = {record_of("a", Outcome::pass, 0.001, ""), record_of("hidden_b", Outcome::fail, 1.5, "3 of 9 elements differ")};
  card.operators.push_back(score_of("syntax", Outcome::error, ErrorKind::syntax_error, Stage::import));
  card.operators.back().verdict->diagnostic = sandbox::Diagnostic{"SyntaxError", "expected ':'", 18, "def f(x)", ""};
  card.operators.push_back(score_of("compiler", Outcome::error, ErrorKind::compilation_error, Stage::compile));
  card.operators.back().verdict->diagnostic = sandbox::Diagnostic{"CompilationError", "<b>no attribute</b>\n\x1b[31m'matmul'", 14, "", ""};
  card.operators.push_back(score_of("crashed", Outcome::error, ErrorKind::crash, Stage::run));
  card.operators.back().verdict->detail = "SIGSEGV";
  card.operators.push_back(score_of("gluon_add", Outcome::error, ErrorKind::unsupported, Stage::run));
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

TEST_CASE("labels") {
  CHECK(label_of(Outcome::pass, ErrorKind::none, Stage::done, {}) == Label::pass);
  CHECK(label_of(Outcome::pass, ErrorKind::none, Stage::done, {"would be slow: 1 program"}) == Label::slow);
  CHECK(label_of(Outcome::fail, ErrorKind::output_mismatch, Stage::judge, {"slow"}) == Label::wrong);
  CHECK(label_of(Outcome::error, ErrorKind::attribute_error, Stage::compile, {}) == Label::no_compile);
  CHECK(label_of(Outcome::error, ErrorKind::attribute_error, Stage::import, {}) == Label::error);
  CHECK(label_of(Outcome::error, ErrorKind::unsupported, Stage::compile, {}) == Label::needs_gpu);
}

TEST_CASE("rows explain themselves and totals add up") {
  const Report report = make_report(example());
  REQUIRE(report.rows.size() == 8);
  CHECK(report.scripted);
  CHECK(report.rows[0].max_error == 0.002);
  CHECK(report.rows[1].explanation == "right, but would be slow: its widest launch has 1 program");
  CHECK(report.rows[2].explanation == "case 'hidden_b': 3 of 9 elements differ");
  CHECK(report.rows[3].explanation == "line 18: SyntaxError: expected ':'");
  CHECK(report.rows[4].explanation.find('\x1b') == std::string::npos);
  CHECK(report.rows[5].explanation == "summary of crashed: SIGSEGV");
  CHECK(report.rows[7].explanation == "there is no submission");
  CHECK(report.totals.labels.at("does not compile") == 2);
  CHECK(report.totals.call_accuracy == Approx(3.0 / 8));
  CHECK(report.totals.execution_accuracy == Approx(2.0 / 8));
  CHECK(report.totals.errors.at("Syntax").at("SyntaxError") == 1);
  CHECK(report.totals.errors.at("Runtime & Logic").at("ResultsError") == 1);
  CHECK(report.totals.no_perf_reason == "no GPU: nothing was timed");
  CHECK(report.totals.tool_calls == 21);
  CHECK(report.totals.sandbox_ms == Approx(3'500));
}

TEST_CASE("a NaN error is the largest error") {
  tools::Scorecard card = example();
  card.operators[2].verdict->cases[1].max_abs_error = std::numeric_limits<double>::quiet_NaN();
  const Report report = make_report(card);
  REQUIRE(report.rows[2].max_error);
  CHECK(std::isnan(*report.rows[2].max_error));
  CHECK(nlohmann::json::parse(report_as_json(report))["operators"][2]["max_error"] == "nan");
}

TEST_CASE("table: every operator on one line, scripted said, columns aligned") {
  const std::string text = report_as_table(make_report(example()));
  CHECK(text.find("scripted (no model)") != std::string::npos);
  CHECK(text.find("never ranked") != std::string::npos);
  CHECK(line_with(text, "slow_one").find("pass, slow") != std::string::npos);
  CHECK(line_with(text, "gluon_add").find("needs a GPU") != std::string::npos);
  CHECK(line_with(text, "syntax ").find("line 18") == line_with(text, "operator ").find("explanation"));
  CHECK(line_with(text, "pass@1").find("25.0 %") != std::string::npos);
  CHECK(line_with(text, "perf@1").find("none (no GPU: nothing was timed)") != std::string::npos);
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
  CHECK(text.find("\"'=cmd|' /C calc'!A0, \"\"quoted\"\": SIGSEGV\"\r\n") != std::string::npos);
  CHECK(std::count(text.begin(), text.end(), '\n') == 9);
  CHECK(text.find("\"pass, slow\"") != std::string::npos);
}

TEST_CASE("html escapes what a submission said") {
  const std::string page = report_as_html(make_report(example()));
  CHECK(page.find("&lt;b&gt;no attribute&lt;/b&gt;") != std::string::npos);
  CHECK(page.find("<b>") == std::string::npos);
  CHECK(page.find("scripted (no model)") != std::string::npos);
}

TEST_CASE("printable lines") {
  CHECK(printable_line("a\nb\t\x1b[1m c", 99) == "a b [1m c");
  CHECK(printable_line("\xc2\x9b"
                       "31m",
                       99) == "31m");  // a C1 control, which terminals obey
  CHECK(printable_line("caf\xc3\xa9", 99) == "caf\xc3\xa9");
  CHECK(printable_line("\xff\xfe"
                       "ab",
                       99) == "ab");
  CHECK(printable_line("abcdef", 4) == "abc…");
  CHECK(printable_line("abcd", 4) == "abcd");
  CHECK(width_of("caf\xc3\xa9…") == 5);
}

TEST_CASE("Wilson interval") {
  CHECK(wilson_interval(0, 0) == std::array<double, 2>{0, 1});
  CHECK(wilson_interval(8, 16)[0] == Approx(0.2800).margin(1e-4));
  CHECK(wilson_interval(8, 16)[1] == Approx(0.7200).margin(1e-4));
  CHECK(wilson_interval(0, 16)[0] == Approx(0).margin(1e-12));
}
