#include "server/bench/status.h"

#include <algorithm>
#include <cstdio>
#include <map>
#include <optional>
#include <set>
#include <string>

#include "base/json.h"
#include "base/stderr_line.h"
#include "reference_agents/llm/json_fields.h"
#include "server/app/exit_status.h"
#include "server/app/report_source.h"
#include "server/bench/journal.h"
#include "server/bench/run.h"
#include "server/report/model/compare.h"
#include "server/report/text/forms.h"

namespace assay::bench {

namespace {

using agents::field;
using agents::number_field;
using agents::string_field;
using nlohmann::json;
using report::ComparisonRow;
using server::kBadData;
using server::print_error;

constexpr const char* kCommand = "bench";

void set_progress(ComparisonRow& row, const PairEnd& end) {
  row.attempts = end.attempts;
  row.finished = end.attempts - end.unfinished;
}

/// Adds the outcomes for each operator in `card`, the scorecard of one run, to `suite`. Returns
/// false if the server has truncated the scorecard.
bool add_samples(const json& card, std::map<std::string, metrics::OperatorSamples>& suite) {
  const json* entries = field(card, "operators");
  if (entries == nullptr || !entries->is_array() || field(card, "truncated") != nullptr)
    return false;
  // A server of an older version does not name the baseline, which is then the oracle.
  std::optional<Baseline> baseline = baseline_from(string_field(card, "baseline"));
  if (!baseline && field(card, "perf_at_1") != nullptr) baseline = Baseline::oracle;
  for (const json& entry : *entries) {
    metrics::Sample sample;
    sample.right = string_field(entry, "outcome") == "pass";
    const json* perf = field(entry, "perf");
    if (sample.right && perf != nullptr && perf->is_number()) sample.perf = perf->get<double>();
    metrics::OperatorSamples& op = suite[string_field(entry, "operator")];
    if (op.samples.empty()) op.baseline = baseline;
    if (op.baseline != baseline) op.baseline.reset();
    op.samples.push_back(sample);
  }
  return true;
}

}  // namespace

int status_of_option_error(const Error& error) {
  return error.code == ErrorCode::not_found ? server::kUnknownName : server::kUsage;
}

int status_of_setup_error(const BenchOptions& options, const Error& error) {
  if (error.code == ErrorCode::corrupt) return kBadData;
  if (error.code == ErrorCode::permission_denied) return server::kNoCredentials;
  if (error.code == ErrorCode::not_found)
    return options.replay.empty() ? server::kUnknownName : server::kNoInput;
  return server::kUsage;
}

int status_of_price_error(const Error& error) {
  return error.code == ErrorCode::invalid_argument ? server::kUsage : server::kBadConfig;
}

int status_of_journal_error(const Error& error) {
  if (error.code == ErrorCode::corrupt) return kBadData;
  return error.code == ErrorCode::invalid_argument ? server::kUsage : server::kUnavailable;
}

int status_of_start_error(const Error& error) {
  if (error.code == ErrorCode::not_found) return server::kUnknownName;
  return error.code == ErrorCode::io ? server::kInternal : server::kUnavailable;
}

Result<std::string> reports_text(const std::filesystem::path& store,
                                 const operators::Catalog& catalog, const BenchPlan& plan,
                                 const std::vector<PairEnd>& ends) {
  std::string text;
  std::vector<ComparisonRow> rows;
  for (std::size_t i = 0; i < ends.size(); ++i) {
    Result<report::Report> report = server::read_report(store, catalog, ends[i].runs);
    if (!report) return fail(report.error());
    ASSAY_TRY(journal, read_journal(plan.pairs[i].directory));
    report::explain_missing(*report, missing_in(journal));
    text += "\n" + (ends[i].unfinished < ends[i].attempts
                        ? report::report_as_table(*report)
                        : plan.pairs[i].agent_name + " with " + plan.pairs[i].model_label +
                              ": no attempt is finished\n");
    rows.push_back(report::comparison_of(*report));
    set_progress(rows.back(), ends[i]);
  }
  return rows.size() > 1 ? text + "\n" + report::comparison_table(rows) : text;
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
    rows.push_back(report::comparison_of(plan.pairs[i].agent_name, plan.pairs[i].model_label,
                                         whole ? all : std::vector<metrics::OperatorSamples>(),
                                         usage));
    rows.back().track = plan.pairs[i].track();
    set_progress(rows.back(), ends[i]);
  }
  return rows.size() > 1 ? text + "\n" + report::comparison_table(rows) : text;
}

std::map<std::pair<std::int64_t, std::string>, report::NoSubmission> missing_in(
    const JournalContent& journal) {
  std::map<std::pair<std::int64_t, std::string>, report::NoSubmission> why;
  for (const auto& [which, end] : journal.finished) {
    if (const std::optional<report::Label> label = label_without_submission(end.outcome))
      why[which] = {*label, end.explanation};
  }
  return why;
}

void say_why_stopped(const std::vector<PairEnd>& ends) {
  std::set<std::string> said;
  for (const PairEnd& end : ends) {
    if (end.unfinished > 0 && !end.stopped_by.empty() && said.insert(end.stopped_by).second)
      stderr_line("assay bench: stopped: " + end.stopped_by);
  }
}

int print_replay(const BenchPlan& plan) {
  int status = server::kPass;
  for (const BenchPair& pair : plan.pairs) {
    const Result<JournalContent> recorded = read_journal(pair.recorded);
    const Result<JournalContent> replayed = read_journal(pair.directory);
    if (!recorded || !replayed)
      return print_error(kCommand, kBadData, (recorded ? replayed : recorded).error().message);
    const ReplayOutcome outcome = compare_replay(*recorded, *replayed);
    std::printf("\nReplay of %s\n%s", pair.recorded.c_str(), outcome.text.c_str());
    if (outcome.other + outcome.no_reply > 0) status = server::kFail;
  }
  std::fflush(stdout);
  return status;
}

int print_unfinished(const BenchPlan& plan, const std::vector<PairEnd>& ends, int status) {
  std::size_t unfinished = 0;
  std::size_t attempts = 0;
  std::vector<std::string> reasons;
  for (std::size_t i = 0; i < ends.size(); ++i) {
    unfinished += ends[i].unfinished;
    attempts += ends[i].attempts;
    if (ends[i].unfinished == 0 || ends[i].stopped_by.empty()) continue;
    if (std::find(reasons.begin(), reasons.end(), ends[i].stopped_by) == reasons.end())
      reasons.push_back(ends[i].stopped_by);
  }
  if (unfinished == 0) return status;
  std::string why;
  for (const std::string& reason : reasons) why += "stopped: " + reason + "; ";
  const std::string all = plan.pairs.size() > 1
                              ? " attempts of " + std::to_string(plan.pairs.size()) + " pairs"
                              : " attempts";
  return print_error(kCommand, server::kError,
                     why + std::to_string(unfinished) + " of " + std::to_string(attempts) + all +
                         " are not finished; the same command with --resume continues");
}

}  // namespace assay::bench
