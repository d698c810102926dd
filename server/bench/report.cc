#include "server/bench/report.h"

#include <map>
#include <nlohmann/json.hpp>

#include "reference_agents/llm/json_fields.h"
#include "server/app/report_source.h"
#include "server/report/model/formats.h"
#include "server/report/text/compare_table.h"

namespace assay::server {
namespace {

using agents::field;
using agents::number_field;
using agents::string_field;
using nlohmann::json;

void set_progress(ComparisonRow& row, const PairEnd& end) {
  row.attempts = end.attempts;
  row.finished = end.attempts - end.unfinished;
}

/// Adds one run's operators as samples. False when the server's answer was cut.
bool add_samples(const json& card, std::map<std::string, metrics::OperatorSamples>& suite) {
  const json* entries = field(card, "operators");
  if (entries == nullptr || !entries->is_array() || field(card, "truncated") != nullptr)
    return false;
  for (const json& entry : *entries) {
    metrics::Sample sample;
    sample.right = string_field(entry, "outcome") == "pass";
    const json* perf = field(entry, "perf");
    if (sample.right && perf != nullptr && perf->is_number()) sample.perf = perf->get<double>();
    metrics::OperatorSamples& op = suite[string_field(entry, "operator")];
    op.samples.push_back(sample);
  }
  return true;
}

}  // namespace

Result<std::string> reports_text(const std::filesystem::path& store,
                                 const operators::Catalog& catalog,
                                 const std::vector<PairEnd>& ends) {
  std::string text;
  std::vector<ComparisonRow> rows;
  for (std::size_t i = 0; i < ends.size(); ++i) {
    const Result<Report> report = read_report(store, catalog, ends[i].runs);
    if (!report) return fail(report.error());
    text += "\n" + format_report(*report, ReportFormat::table);
    rows.push_back(comparison_of(*report));
    set_progress(rows.back(), ends[i]);
  }
  return rows.size() > 1 ? text + "\n" + comparison_table(rows) : text;
}

Result<std::string> reports_text(mcp::Client& client, const BenchPlan& plan,
                                 const std::vector<PairEnd>& ends) {
  std::string text;
  std::vector<ComparisonRow> rows;
  for (std::size_t i = 0; i < ends.size(); ++i) {
    std::map<std::string, metrics::OperatorSamples> suite;
    tools::Usage usage{.cost_known = true};
    bool whole = true;
    for (const std::string& run : ends[i].runs) {
      const Result<mcp::ToolResult> card =
          client.call_tool("scorecard", {{"run", run}, {"response_format", "detailed"}});
      if (!card) return fail(card.error());
      if (card->is_error) return fail(ErrorCode::unavailable, card->text);
      text += "\n" + card->text + "\n";
      whole = add_samples(card->structured, suite) && whole;
      const json* cost = field(card->structured, "cost_usd");
      usage.cost_known = usage.cost_known && cost != nullptr && cost->is_number();
      usage.cost_usd += number_field(card->structured, "cost_usd");
    }
    std::vector<metrics::OperatorSamples> all;
    for (auto& [name, samples] : suite) all.push_back(std::move(samples));
    rows.push_back(comparison_of(plan.pairs[i].agent_name, plan.pairs[i].model_label,
                                 whole ? all : std::vector<metrics::OperatorSamples>(), usage));
    set_progress(rows.back(), ends[i]);
  }
  return rows.size() > 1 ? text + "\n" + comparison_table(rows) : text;
}

}  // namespace assay::server
