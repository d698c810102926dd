// Returns the text that a tool answers, for a resource or prompt that shows the same text.
//
//   tool_text(fetch_spec_tool(services), {{"operator", "vector_add"}}, context)
//       ->  "ok: vector_add: ...", or the tool's error
//
// Thread-safe, because tools are.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "base/result.h"
#include "server/mcp/core/tool.h"

namespace assay::tools {

Result<std::string> tool_text(const mcp::Tool& tool, const nlohmann::json& arguments,
                              mcp::RequestContext& context);

}  // namespace assay::tools
