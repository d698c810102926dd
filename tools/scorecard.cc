#include <cstdint>
#include <map>

#include "base/text.h"
#include "operators/catalog.h"
#include "tools/call/arguments.h"
#include "tools/call/principal_of.h"
#include "tools/call/schema_parts.h"
#include "tools/model/outcome_names.h"
#include "tools/model/public_verdict.h"
#include "tools/registry.h"

namespace assay::tools {
namespace {

using nlohmann::json;

// The text names the operators without a call or a submission only if there are at most this number
// of them.
constexpr std::int64_t kNamedUntouched = 12;

std::string percent(double share) { return number_text(share * 100) + " %"; }

std::string state_of(const OperatorScore& score) {
  if (!score.submitted) return "not submitted";
  if (!score.verdict) return "being graded";
  if (score.verdict->outcome == sandbox::Outcome::pass)
    return pass_text(*score.verdict) +
           (score.verdict->perf
                ? ", perf " + number_text(*score.verdict->perf) + over_text(score.verdict->baseline)
                : "");
  std::string text(to_string(score.verdict->outcome));
  if (score.verdict->error_kind != sandbox::ErrorKind::none)
    text += " (" + std::string(to_string(score.verdict->error_kind)) + ")";
  return text;
}

json entry_of(const OperatorScore& score) {
  json entry = {{"operator", score.operator_name},
                {"submitted", score.submitted},
                {"tool_calls", score.tool_calls}};
  if (!score.split.empty()) entry["split"] = score.split;
  if (!score.job.empty()) entry["job"] = score.job;
  if (!score.verdict) return entry;
  entry["outcome"] = to_string(score.verdict->outcome);
  entry["error_kind"] = to_string(score.verdict->error_kind);
  entry["tier"] = to_string(score.verdict->tier);
  if (const std::int64_t left_out = cases_not_run(score.verdict->skipped_cases); left_out > 0)
    entry["cases_not_run"] = left_out;
  if (score.verdict->perf) {
    entry["perf"] = *score.verdict->perf;
    entry["baseline"] = to_string(score.verdict->baseline.value_or(Baseline::oracle));
  }
  return entry;
}

struct ScorecardArguments {
  std::string run;
  Format format = Format::concise;

  static json schema() {
    return input_object({{"run", run_property(true)}, {"response_format", format_property()}},
                        {"run"});
  }
  static Result<ScorecardArguments> parse(const json& arguments) {
    ScorecardArguments parsed;
    ArgumentReader reader(arguments);
    reader.read("run", parsed.run);
    reader.read("response_format", parsed.format);
    return reader.result(std::move(parsed));
  }
};

bool is_touched(const OperatorScore& score) { return score.submitted || score.tool_calls > 0; }

/// Returns one line for each operator that has a call or a submission. The last line names the
/// other operators, or only says how many there are if there are more than kNamedUntouched.
std::string operators_text(const Scorecard& card) {
  std::string text;
  std::string names;
  std::int64_t untouched = 0;
  for (const OperatorScore& score : card.operators) {
    if (is_touched(score)) {
      text += "- " + escape_line(score.operator_name) + ": " + state_of(score) + ", " +
              count_text(score.tool_calls, "tool call") + "\n";
    } else {
      names += (names.empty() ? "" : ", ") + score.operator_name;
      ++untouched;
    }
  }
  if (untouched == 0) return text;
  return text + "- not submitted, 0 tool calls: " +
         (untouched <= kNamedUntouched
              ? names
              : count_text(untouched, "operator") + " of the run's suite") +
         "\n";
}

/// Returns the number of passes in each split: "standard 3 of 14, ood 0 of 1".
std::string splits_text(const Scorecard& card) {
  std::map<std::string, std::pair<int, int>> splits;
  for (const OperatorScore& score : card.operators) {
    auto& [passed, all] = splits[score.split];
    ++all;
    if (score.verdict && score.verdict->outcome == sandbox::Outcome::pass) ++passed;
  }
  std::string text;
  for (const auto& [name, counts] : splits) {
    text += (text.empty() ? "" : ", ") + (name.empty() ? "removed" : name) + " " +
            std::to_string(counts.first) + " of " + std::to_string(counts.second);
  }
  return text;
}

/// Returns Perf@1, or the reason why there is no Perf@1: it needs the time of every right
/// submission (metrics/summary.h).
std::string perf_text(const Scorecard& card) {
  if (card.perf_at_1 && card.baseline)
    return "Perf@1 " + number_text(*card.perf_at_1) + over_text(card.baseline) +
           " (failures count as 0)\n";
  if (!card.baseline) return "no Perf@1: " + std::string(kMixedBaselines) + "\n";
  std::int64_t timed = 0;
  for (const OperatorScore& score : card.operators) {
    if (score.verdict && score.verdict->outcome == sandbox::Outcome::pass && score.verdict->perf)
      ++timed;
  }
  if (timed == 0) return "no Perf@1: no submission was timed\n";
  return "no Perf@1: " + std::to_string(card.passed - timed) + " of " +
         count_text(card.passed, "right submission") + " were not timed\n";
}

mcp::ToolResult answer_of(const Scorecard& card, const AnswerLimits& limits, Format format) {
  const auto count = static_cast<std::int64_t>(card.operators.size());
  const bool scored = card.run.request.track != Track::practice;
  std::string next = "`submit` the operators that are left.";
  if (card.submitted == count)
    next = "Every operator is submitted; nothing is left to do in this run.";
  mcp::ToolResult answer;
  answer.text = std::string(scored ? "ok: " : "ok (practice, unscored): ") + "Pass@1 " +
                percent(card.pass_at_1) + ": " + std::to_string(card.passed) + " of " +
                count_text(count, "operator") + " pass, " + std::to_string(card.submitted) +
                " submitted\n";
  answer.text += perf_text(card);
  answer.text += "by split: " + splits_text(card) + "\nagent " + line_of(card.run.request.agent) +
                 ", model " + line_of(card.run.request.model) + ", track " +
                 std::string(to_string(card.run.request.track)) + ", suite " +
                 text_of(without_digest(card.run.suite_id)) + "; " +
                 std::to_string(card.usage.input_tokens) + " input tokens, " +
                 std::to_string(card.usage.output_tokens) + " output tokens, " +
                 cost_text(card.usage) + "\n";
  json entries = json::array();
  for (const OperatorScore& score : card.operators) {
    entries.push_back(entry_of(score));
  }
  answer.text += operators_text(card) + "next: " + next;
  answer.structured = {{"status", "ok"},
                       {"run", card.run.handle},
                       {"agent", card.run.request.agent},
                       {"model", card.run.request.model},
                       {"track", to_string(card.run.request.track)},
                       {"suite_id", suite_json(without_digest(card.run.suite_id))},
                       {"passed", card.passed},
                       {"submitted", card.submitted},
                       {"total", count},
                       {"pass_at_1", card.pass_at_1},
                       {"input_tokens", card.usage.input_tokens},
                       {"output_tokens", card.usage.output_tokens},
                       {"operators", std::move(entries)},
                       {"next", next}};
  if (card.perf_at_1) answer.structured["perf_at_1"] = *card.perf_at_1;
  if (card.baseline) answer.structured["baseline"] = to_string(*card.baseline);
  if (card.usage.cost_known) answer.structured["cost_usd"] = card.usage.cost_usd;
  return fit_answer(std::move(answer), max_chars(limits, format));
}

}  // namespace

mcp::Tool scorecard_tool(const Services& services) {
  mcp::Tool tool;
  tool.name = "scorecard";
  tool.title = "Scorecard of a run";
  tool.description =
      "Shows Pass@1 over the whole suite (an operator without a submission counts as a failure), "
      "Perf@1 if every correct submission was timed, the graded outcome of each operator, tokens "
      "and cost.";
  tool.input_schema = ScorecardArguments::schema();
  const json text = {{"type", "string"}};
  const json number = {{"type", "number"}};
  const json integer = {{"type", "integer"}};
  const json entry = {{"type", "object"},
                      {"properties",
                       {{"operator", text},
                        {"split", text},
                        {"submitted", {{"type", "boolean"}}},
                        {"tool_calls", integer},
                        {"job", text},
                        {"outcome", text},
                        {"error_kind", text},
                        {"tier", text},
                        {"cases_not_run", integer},
                        {"perf", number},
                        {"baseline", text}}},
                      {"required", {"operator", "submitted"}},
                      {"additionalProperties", false}};
  tool.output_schema = output_object({{"run", text},
                                      {"agent", text},
                                      {"model", text},
                                      {"track", text},
                                      {"suite_id", suite_schema()},
                                      {"passed", integer},
                                      {"submitted", integer},
                                      {"total", integer},
                                      {"pass_at_1", number},
                                      {"perf_at_1", number},
                                      {"baseline", text},
                                      {"input_tokens", integer},
                                      {"output_tokens", integer},
                                      {"cost_usd", number},
                                      {"operators", array_of(entry)},
                                      {"next", text}});
  tool.listed_output_schema = outline_of(tool.output_schema, {});
  tool.annotations = annotations_of({.read_only = true, .idempotent = true});
  set_quick_handler<ScorecardArguments>(tool, [&services](const ScorecardArguments& arguments,
                                                          const mcp::RequestContext& context) {
    auto card = services.runs.scorecard(principal_of(context), arguments.run);
    if (!card) return error_answer(card.error());
    for (OperatorScore& score : card->operators) {
      if (score.verdict)
        score.verdict =
            public_verdict(*score.verdict, services.catalog.find(score.operator_name)).verdict();
    }
    return answer_of(*card, services.limits, arguments.format);
  });
  return tool;
}

}  // namespace assay::tools
