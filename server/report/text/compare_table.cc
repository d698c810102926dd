#include "server/report/text/compare_table.h"

#include <algorithm>

#include "metrics/cost.h"
#include "server/report/model/format.h"
#include "server/report/model/model_label.h"
#include "server/report/text/text_table.h"

namespace assay::server {
namespace {

constexpr std::size_t kNameCharacters = 60;

}  // namespace

ComparisonRow comparison_of(const Report& report) {
  ComparisonRow row{report.run.request.agent,
                    report.run.request.model,
                    static_cast<std::size_t>(report.totals.submitted),
                    static_cast<std::size_t>(report.totals.attempts),
                    report.all.pass_at_1,
                    report.all.perf_at_1,
                    report.usage,
                    report.scripted(),
                    report.totals.passed};
  return row;
}

ComparisonRow comparison_of(const std::string& agent, const std::string& model,
                            const std::vector<metrics::OperatorSamples>& suite,
                            const tools::Usage& usage) {
  const metrics::Summary summary = metrics::summarise(suite);
  return {agent,
          model,
          0,
          static_cast<std::size_t>(summary.samples),
          summary.pass_at_1,
          summary.perf_at_1,
          usage,
          parse_model_label(model).answered_by != AnsweredBy::model,
          summary.right};
}

std::string comparison_table(const std::vector<ComparisonRow>& rows) {
  std::vector<TextRow> table = {
      {"agent", "model", "finished", "pass@1", "perf@1", "cost", "cost per solved"}};
  for (const ComparisonRow& row : rows) {
    const std::optional<double> per_solved =
        row.usage.cost_known && !row.no_model
            ? metrics::cost_per_solved(row.usage.cost_usd, row.right)
            : std::nullopt;
    table.push_back(
        {printable_line(row.agent, kNameCharacters), printable_line(row.model, kNameCharacters),
         std::to_string(row.finished) + " of " + std::to_string(row.attempts),
         with_interval(row.pass_at_1, Unit::share), with_interval(row.perf_at_1, Unit::ratio),
         cost_in_words(row.usage, row.no_model), number(per_solved, "$%.4f")});
  }
  const bool complete = std::all_of(rows.begin(), rows.end(), [](const ComparisonRow& row) {
    return row.finished == row.attempts;
  });
  return "Comparison (95 % intervals over the operators; in the order of the command, not "
         "ranked)\n" +
         text_table(table) +
         (complete ? ""
                   : "Attempts that are not finished count as failures: finish a bench with "
                     "--resume, then compare.\n");
}

}  // namespace assay::server
