// The content of the MCP server that `assay serve` runs: tools, resources and prompts. A test
// registers them without a transport.
//
//   const Status added = register_all(server, services, guides);
#pragma once

#include <vector>

#include "base/result.h"
#include "operators/guides.h"
#include "server/mcp/core/server.h"
#include "tools/model/services.h"

namespace assay::server {

/// Registers every tool, resource and prompt of Assay. `services` must outlive the server. Fails if
/// a name is taken or a schema cannot be used; the error names the entry.
Status register_all(mcp::Server& server, const tools::Services& services,
                    const std::vector<operators::Guide>& guides);

}  // namespace assay::server
