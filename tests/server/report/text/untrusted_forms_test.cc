// Checks that the labels, suites and verdicts of an imported or an old run cannot add lines to the
// forms of a report, and cannot reverse or hide parts of a line.
#include <algorithm>
#include <string>

#include "base/text.h"
#include "server/report/text/forms.h"
#include "tests/catch.h"

namespace assay::report {
namespace {

constexpr std::ptrdiff_t kRows = 2;

/// Returns a card in which every text is `text`.
tools::Scorecard card_of(const std::string& text) {
  tools::Scorecard card;
  card.run.handle = "run_0123456789abcdefghjkmnpqrs";
  card.run.request = {text, text, tools::Track::one_shot, "all"};
  card.run.suite_id = {text, text, text};
  for (std::ptrdiff_t i = 0; i < kRows; ++i) {
    tools::OperatorScore score;
    score.operator_name = text;
    score.split = text;
    score.submitted = true;
    score.job = "job_" + std::to_string(i);
    sandbox::Verdict verdict;
    verdict.operator_name = text;
    verdict.outcome = sandbox::Outcome::error;
    verdict.error_kind = sandbox::ErrorKind::crash;
    verdict.stage = sandbox::Stage::run;
    verdict.summary = text;
    verdict.detail = text;
    verdict.tier_reason = text;
    verdict.provenance.device = text;
    verdict.provenance.missing_layers = {text};
    verdict.provenance.suite_id = card.run.suite_id;
    score.verdict = verdict;
    card.operators.push_back(score);
  }
  card.submitted = kRows;
  return card;
}

std::ptrdiff_t times(const std::string& text, char wanted) {
  return std::count(text.begin(), text.end(), wanted);
}

const std::vector<std::string> kTexts = {"a\npass@1 FORGED",
                                         "a\tb",
                                         "a\rpass@1 FORGED",
                                         "a\x0b\x1b[2Jb",
                                         "a\xc2\x85pass@1 FORGED",
                                         "a\xe2\x80\xa8pass@1 FORGED",
                                         "a\xe2\x80\xae"
                                         "b"};

/// Checks that `form` has no character that kTexts have and escape_line() does not leave.
void check_escaped(const std::string& form) {
  INFO(form);
  for (const char* raw : {"\npass@1 FORGED", "\t", "\rpass", "\x0b", "\x1b", "\xc2\x85",
                          "\xe2\x80\xa8", "\xe2\x80\xae"})
    CHECK(form.find(raw) == std::string::npos);
}

}  // namespace

TEST_CASE("no text of a run adds a line to the table of its report") {
  const auto table_of = [](const std::string& text) {
    Report report = make_report(card_of(text));
    report.imported["run_0123456789abcdefghjkmnpqrs"] = text;
    return report_as_table(report);
  };
  const std::ptrdiff_t lines = times(table_of("a"), '\n');
  for (const std::string& text : kTexts) {
    check_escaped(table_of(text));
    CHECK(times(table_of(text), '\n') == lines);
  }
}

TEST_CASE("no text of a run adds a line to the table of a comparison") {
  for (const std::string& text : kTexts) {
    const std::string table = comparison_table({comparison_of(make_report(card_of(text)))});
    check_escaped(table);
    CHECK(table.find(escape_line(text)) != std::string::npos);
  }
}

TEST_CASE("csv: every cell is one line") {
  for (const std::string& text : kTexts) {
    const std::string csv = report_as_csv(make_report(card_of(text)));
    check_escaped(csv);
    CHECK(times(csv, '\n') == 1 + kRows);
    CHECK(times(csv, '\r') == 1 + kRows);
    CHECK(csv.find("," + escape_line(text) + ",") != std::string::npos);
  }
}

TEST_CASE("csv: a cell that begins with white space cannot hide a formula") {
  for (const std::string label : {"=1+1", "\t=1+1", "\n=1+1", " =1+1", "  @f"}) {
    const std::string csv = report_as_csv(make_report(card_of(label)));
    CHECK(csv.find(",'" + escape_line(label) + ",") != std::string::npos);
  }
}

}  // namespace assay::report
