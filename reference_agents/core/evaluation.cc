#include "reference_agents/core/evaluation.h"

#include <cstdio>
#include <string>

#include "reference_agents/llm/json_fields.h"

namespace assay::agents {

using nlohmann::json;

bool is_better(const Evaluation& candidate, const Evaluation& best) {
  if (candidate.level != best.level) return candidate.level > best.level;
  if (candidate.level != Level::correct || !candidate.perf) return false;
  return !best.perf || *candidate.perf > *best.perf * kLeastGain;
}

std::string metrics_text(const Evaluation& evaluation) {
  if (evaluation.level == Level::broken) return "does not compile (" + evaluation.error_kind + ")";
  if (evaluation.level == Level::compiles)
    return "compiles, but is not correct (" + evaluation.error_kind + ")";
  std::string text = "correct";
  char number[64];
  if (evaluation.latency_us) {
    std::snprintf(number, sizeof(number), ", %.2f us", *evaluation.latency_us);
    text += number;
  }
  if (evaluation.perf) {
    std::snprintf(number, sizeof(number), ", %.2f x the speed of the reference kernel",
                  *evaluation.perf);
    text += number;
  }
  if (evaluation.efficiency) {
    std::snprintf(number, sizeof(number), ", %.0f %% of the roofline",
                  100 * *evaluation.efficiency);
    text += number;
  }
  return text + (evaluation.perf ? "" : " (nothing is timed on this machine)");
}

void read_answer(const mcp::ToolResult& answer, Level reached, Evaluation& evaluation) {
  const json& verdict = verdict_in(answer.structured);
  evaluation.outcome = string_field(verdict, "outcome");
  evaluation.error_kind = string_field(verdict, "error_kind");
  evaluation.feedback = answer.text;
  evaluation.refused = evaluation.outcome.empty();
  if (evaluation.outcome == "pass") evaluation.level = reached;
}

void read_profile(const mcp::ToolResult& answer, Evaluation& evaluation) {
  const json& verdict = verdict_in(answer.structured);
  if (string_field(verdict, "outcome") != "pass") return;  // keep the answer of the tests
  evaluation.feedback = answer.text;
  const double own_ns = number_field(verdict, "cases", 0, "latency", "median_ns");
  const double baseline_ns = number_field(verdict, "cases", 0, "baseline_latency", "median_ns");
  const double share = number_field(verdict, "profile", "roofline", "share");
  if (own_ns > 0) evaluation.latency_us = own_ns / 1000;
  if (own_ns > 0 && baseline_ns > 0) evaluation.perf = baseline_ns / own_ns;
  if (share > 0) evaluation.efficiency = share;
}

using nlohmann::json;

const json& verdict_in(const json& structured) {
  for (const char* key : {"verdict", "result"}) {
    const json* inner = field(structured, key);
    if (inner != nullptr && field(*inner, "outcome") != nullptr) return *inner;
  }
  return structured;
}

void read_verdict(const mcp::ToolResult& answer, Attempt& attempt) {
  const json& verdict = verdict_in(answer.structured);
  attempt.outcome = string_field(verdict, "outcome");
  attempt.error_kind = string_field(verdict, "error_kind");
  attempt.stage = string_field(verdict, "stage");
  attempt.explanation = answer.text.substr(0, answer.text.find('\n'));
  if (attempt.outcome.empty())
    attempt.outcome = "refused";  // the text names the reason: a budget, a lock or a cancelled job
  const json* hints = field(verdict, "hints");
  if (hints == nullptr || !hints->is_array()) return;
  for (const json& hint : *hints) {
    if (hint.is_object())
      attempt.hints.push_back({string_field(hint, "kind"), string_field(hint, "text")});
  }
}

}  // namespace assay::agents
