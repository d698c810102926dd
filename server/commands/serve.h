// Declares register_all(), which adds the tools, resources and prompts to the MCP server that
// `assay serve` runs. The function is separate from the command, so that a test can call it without
// a transport (stdio or HTTP).
//
//   const Status added = register_all(server, services, guides);
#pragma once

#include <vector>

#include "base/result.h"
#include "operators/guides.h"
#include "server/mcp/core/server.h"
#include "tools/model/services.h"

namespace assay::server {

/// Registers all tools, resources and prompts of Assay. `services` must outlive the server. Returns
/// an error if two entries have the same name or a schema is invalid. The message names the entry.
Status register_all(mcp::Server& server, const tools::Services& services,
                    const std::vector<operators::Guide>& guides);

}  // namespace assay::server
