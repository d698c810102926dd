#include "server/report/model/compare.h"

#include <algorithm>

#include "base/json.h"
#include "server/report/model/rows.h"
#include "server/report/text/forms.h"
#include "tests/catch.h"

using namespace assay;
using namespace assay::report;
using sandbox::Outcome;

namespace {

/// Returns a scorecard with the operators "a", "b", ... `right` lists for each operator whether it
/// is right.
tools::Scorecard card_of(const std::string& run, const std::string& agent, const std::string& model,
                         const std::vector<bool>& right) {
  tools::Scorecard card;
  card.run.handle = run;
  card.run.request = {agent, model, tools::Track::one_shot, "all"};
  for (std::size_t i = 0; i < right.size(); ++i) {
    tools::OperatorScore score;
    score.operator_name = std::string(1, static_cast<char>('a' + i));
    score.split = "standard";
    score.submitted = true;
    sandbox::Verdict verdict;
    verdict.outcome = right[i] ? Outcome::pass : Outcome::fail;
    verdict.error_kind = right[i] ? sandbox::ErrorKind::none : sandbox::ErrorKind::wrong_result;
    verdict.provenance.device = "cuda:0";
    if (right[i]) verdict.perf = 1.5;
    score.verdict = verdict;
    card.run.operators.push_back(score.operator_name);
    card.operators.push_back(score);
  }
  return card;
}

bool contains(const std::string& text, const std::string& word) {
  return text.find(word) != std::string::npos;
}

}  // namespace

TEST_CASE("runs are grouped by agent and model, in the order of the command") {
  const std::vector<tools::Scorecard> runs = {card_of("r1", "geak", "m", {true, false}),
                                              card_of("r2", "one_shot", "m", {true, true}),
                                              card_of("r3", "geak", "m", {true, true})};
  CHECK_FALSE(is_one_configuration(runs));
  CHECK(is_one_configuration({runs[0], runs[2]}));
  const Result<Comparison> comparison = make_comparison(runs, nullptr);
  REQUIRE(comparison);
  REQUIRE(comparison->reports.size() == 2);
  CHECK(comparison->reports[0].samples == std::vector<std::string>{"r1", "r3"});
  CHECK(comparison->reports[0].totals.pass_at_1 == Approx(0.75));
  CHECK(comparison->reports[1].run.request.agent == "one_shot");
}

TEST_CASE("runs with other operators are not compared, and no runs are not either") {
  tools::Scorecard other = card_of("r2", "b", "m", {true});
  const Result<Comparison> fewer =
      make_comparison({card_of("r1", "a", "m", {true, true}), other}, nullptr);
  REQUIRE_FALSE(fewer);
  CHECK(fewer.error().code == ErrorCode::invalid_argument);
  CHECK(contains(fewer.error().message, "r2 (operators: 1) differs from r1 (operators: 2)"));
  CHECK_FALSE(make_comparison({}, nullptr));
}

TEST_CASE("another track is another configuration, and each form marks it") {
  tools::Scorecard other = card_of("r2", "a", "m", {true});
  other.run.request.track = tools::Track::practice;
  const std::vector<tools::Scorecard> runs = {card_of("r1", "a", "m", {true}), other};
  CHECK_FALSE(is_one_configuration(runs));
  const Result<Comparison> comparison = make_comparison(runs, nullptr);
  REQUIRE(comparison);
  REQUIRE(comparison->reports.size() == 2);
  CHECK(has_several_tracks(*comparison));
  std::vector<ComparisonRow> rows;
  for (const Report& report : comparison->reports) rows.push_back(comparison_of(report));
  CHECK(contains(comparison_table(rows), kTracksNote));
  CHECK(contains(comparison_table(rows), "practice"));
  CHECK(contains(comparison_as_json(*comparison), kTracksNote));
  rows.pop_back();
  CHECK_FALSE(contains(comparison_table(rows), "track"));
}

TEST_CASE("another digest of the suite is another configuration, and each form marks it") {
  std::vector<tools::Scorecard> runs = {card_of("r1", "a", "m", {true}),
                                        card_of("r2", "a", "m", {false})};
  for (std::size_t i = 0; i < runs.size(); ++i) {
    const SuiteId suite{"assay", "1", i == 0 ? "aaaa" : "bbbb"};
    runs[i].run.suite_id = suite;
    runs[i].operators[0].verdict->provenance.suite_id = suite;
  }
  CHECK_FALSE(is_one_configuration(runs));
  CHECK(contains(make_report(runs, nullptr).error().message, "suite assay 1 (digest aaaa)"));
  const Result<Comparison> comparison = make_comparison(runs, nullptr);
  REQUIRE(comparison);
  REQUIRE(comparison->reports.size() == 2);
  CHECK(has_several_suites(*comparison));
  std::vector<ComparisonRow> rows;
  for (const Report& report : comparison->reports) rows.push_back(comparison_of(report));
  CHECK(contains(comparison_table(rows), kSuitesNote));
  CHECK(contains(comparison_table(rows), "assay 1 (digest aaaa)"));
  CHECK(contains(comparison_table(rows), "assay 1 (digest bbbb)"));
  CHECK(contains(comparison_as_json(*comparison), kSuitesNote));
  CHECK(contains(comparison_as_csv(*comparison), ",assay,1,aaaa,"));
  CHECK(contains(comparison_as_csv(*comparison), ",assay,1,bbbb,"));
}

TEST_CASE("a run whose verdicts are from two digests of the suite shows both, side by side") {
  tools::Scorecard card = card_of("r1", "a", "m", {true, false, true});
  card.run.suite_id = {"assay", "1", "aaaa"};
  for (std::size_t i = 0; i < 3; ++i)
    card.operators[i].verdict->provenance.suite_id = {"assay", "1", i < 2 ? "aaaa" : "bbbb"};
  const Report report = make_report(card);
  REQUIRE(report.suites.size() == 2);
  CHECK(report.by_suite.at("assay 1 (digest aaaa)").pass_at_1->value == Approx(0.5));
  CHECK(report.by_suite.at("assay 1 (digest bbbb)").pass_at_1->value == Approx(1));
  CHECK(contains(report_as_table(report), kSuitesNote));
  CHECK(contains(report_as_table(report), "assay 1 (digest bbbb)"));
  CHECK(contains(report_as_json(report), kSuitesNote));
  card.operators[2].verdict->provenance.suite_id = {"assay", "1", "aaaa"};
  const Report one = make_report(card);
  CHECK(one.by_suite.empty());
  CHECK_FALSE(contains(report_as_table(one) + report_as_json(one), kSuitesNote));
  CHECK(contains(report_as_table(one), "suite assay 1 (digest aaaa)"));
}

TEST_CASE("operators in another order are the same operators") {
  tools::Scorecard reversed = card_of("r2", "b", "m", {true, false});
  std::reverse(reversed.operators.begin(), reversed.operators.end());
  const Result<Comparison> comparison =
      make_comparison({card_of("r1", "a", "m", {true, false}), reversed}, nullptr);
  REQUIRE(comparison);
  CHECK(pass_difference(comparison->reports[0], comparison->reports[1])->value == 0);
}

TEST_CASE("the difference is computed per operator, so hard operators do not widen its interval") {
  const Result<Comparison> comparison =
      make_comparison({card_of("r1", "a", "m", {false, false, true, true, true}),
                       card_of("r2", "b", "m", {false, true, true, true, true})},
                      nullptr);
  REQUIRE(comparison);
  const auto difference = pass_difference(comparison->reports[0], comparison->reports[1]);
  REQUIRE(difference);
  CHECK(difference->value == Approx(0.2));
  CHECK(difference->interval.low == Approx(0));
  CHECK(difference->interval.high < 0.7);
  const auto none = pass_difference(comparison->reports[0], comparison->reports[0]);
  CHECK(none->method == metrics::IntervalMethod::none);
}

TEST_CASE("forms of a comparison") {
  tools::Scorecard dear = card_of("r1", "<script>", "openai:a", {true, false});
  dear.usage = {.cost_usd = 2, .cost_known = true};
  const Result<Comparison> comparison =
      make_comparison({dear, card_of("r2", "b", "sim:7 (no model)", {false, false})}, nullptr);
  REQUIRE(comparison);
  const nlohmann::json document = nlohmann::json::parse(comparison_as_json(*comparison));
  CHECK(document["comparison"].size() == 2);
  CHECK(document["comparison"][1]["run"]["ranked"] == false);
  const std::string csv = comparison_as_csv(*comparison);
  CHECK(std::count(csv.begin(), csv.end(), '\n') == 5);
}
