// Registers everything that Assay offers (tools, resources and prompts) with an MCP server.
//
//   if (const Status added = register_all(server, services, *guides); !added) return fail(...);
#pragma once

#include <vector>

#include "base/result.h"
#include "operators/guides.h"
#include "server/mcp/core/server.h"
#include "tools/model/services.h"

namespace assay::server {

/// `services` must outlive the server. An error names what could not be registered: a name is
/// taken, or a schema cannot be used.
Status register_all(mcp::Server& server, const tools::Services& services,
                    const std::vector<operators::Guide>& guides);

}  // namespace assay::server
