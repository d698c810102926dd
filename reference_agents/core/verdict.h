// The verdict in a tool's answer. Pure functions.
#pragma once

#include <nlohmann/json.hpp>

#include "reference_agents/core/attempt.h"
#include "server/mcp/client/client.h"

namespace assay::agents {

/// The verdict's fields stand at the top of an answer, or one level down in the answer of `job`.
const nlohmann::json& verdict_in(const nlohmann::json& structured);

/// A graded verdict into the attempt; outcome "refused" when the answer holds none.
void read_verdict(const mcp::ToolResult& answer, Attempt& attempt);

}  // namespace assay::agents
