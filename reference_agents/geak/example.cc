#include "reference_agents/geak/example.h"

#include <cstddef>

namespace assay::agents {
namespace {

constexpr const char* kTool = "search_examples";
constexpr std::size_t kQueryBytes = 2'000;  // the head of a specification says what it is about

}  // namespace

Result<std::string> similar_example(AgentSession& bench, const Spec& spec) {
  const Result<bool> there = bench.has_tool(kTool);
  if (!there) return fail(there.error());
  if (!*there) {
    if (Status noted = bench.note(std::string("no example: the server has no tool ") + kTool);
        !noted)
      return fail(noted.error());
    return std::string();
  }
  const Result<mcp::ToolResult> answer =
      bench.call_tool(kTool, {{"query", spec.text.substr(0, kQueryBytes)}, {"k", 1}});
  if (!answer) return fail(answer.error());
  if (answer->is_error) return std::string();  // the transcript has the refusal
  return "A kernel for a similar operator, as an example of style and technique:\n\n" +
         answer->text + "\n";
}

}  // namespace assay::agents
