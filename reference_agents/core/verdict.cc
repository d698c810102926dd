#include "reference_agents/core/verdict.h"

#include <string>

#include "reference_agents/llm/json_fields.h"

namespace assay::agents {

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
    attempt.outcome = "refused";  // a budget, a lock, a job that was cancelled: the text says which
  const json* hints = field(verdict, "hints");
  if (hints == nullptr || !hints->is_array()) return;
  for (const json& hint : *hints) {
    if (hint.is_object())
      attempt.hints.push_back({string_field(hint, "kind"), string_field(hint, "text")});
  }
}

}  // namespace assay::agents
