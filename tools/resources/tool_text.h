// The text that a tool answers, for resources and prompts that hold just that. Thread-safe as the
// tool is.
//
//   tool_text(fetch_spec_tool(services), {{"operator", "vector_add"}})      ->  "ok: vector_add:
//   ..."; or the Error that it answered
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "base/result.h"
#include "tools/model/tool.h"

namespace assay::tools {

/// Calls a tool that ends at once, without progress or cancellation.
Result<std::string> tool_text(const Tool& tool, const nlohmann::json& arguments);

}  // namespace assay::tools
