
#include "reference_agents/core/attempt.h"

#include "reference_agents/llm/json_fields.h"

namespace assay::agents {

using nlohmann::json;

Result<RunHandle> start_run(mcp::Client& client, const RunWish& wish) {
  const Result<mcp::ToolResult> answer = client.call_tool(
      "start_run",
      {{"agent", wish.agent}, {"model", wish.model}, {"track", wish.track}, {"suite", wish.suite}});
  if (!answer) return fail(answer.error());
  if (answer->is_error)
    return fail(ErrorCode::not_found,
                "start_run: " + answer->text.substr(0, answer->text.find('\n')));
  RunHandle handle{string_field(answer->structured, "run"), {}};
  const json* operators = field(answer->structured, "operators");
  if (operators != nullptr && operators->is_array()) {
    for (const json& name : *operators) {
      if (name.is_string()) handle.operators.push_back(name.get<std::string>());
    }
  }
  if (handle.run.empty() || handle.operators.empty())
    return fail(ErrorCode::corrupt, "start_run answered without `run` or `operators`");
  return handle;
}

}  // namespace assay::agents
