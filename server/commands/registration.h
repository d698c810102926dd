// The protocol layer knows nothing of kernels and tools/ nothing of the protocol: here they meet.
// Tools, resources and prompts are taken over as they are; nothing is decided here.
#pragma once

#include "base/result.h"
#include "server/mcp/core/server.h"
#include "tools/model/tool.h"
#include "tools/resources/prompts.h"
#include "tools/resources/resources.h"

namespace assay::server {

mcp::Tool adapt(tools::Tool tool);
mcp::Prompt adapt(tools::Prompt prompt);

/// Registers a family's template and each resource that it lists.
Status add_family(mcp::Server& server, const tools::ResourceFamily& family);

/// Everything that Assay offers. `services` must outlive the server.
Status add_all(mcp::Server& server, tools::Services& services,
               const std::vector<operators::Guide>& guides);

}  // namespace assay::server
