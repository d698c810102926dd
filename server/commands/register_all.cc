// Adds the tools, resources and prompts to the MCP server.
#include <utility>

#include "server/commands/serve.h"
#include "tools/registry.h"
#include "tools/resources/resources.h"

namespace assay::server {

Status register_all(mcp::Server& server, const tools::Services& services,
                    const std::vector<operators::Guide>& guides) {
  for (mcp::Tool& tool : tools::make_tools(services)) {
    if (Status added = server.add_tool(std::move(tool)); !added) return added;
  }
  tools::ResourceList resources = tools::make_resources(services, guides);
  for (mcp::ResourceTemplate& one : resources.templates) {
    if (Status added = server.add_template(std::move(one)); !added) return added;
  }
  for (mcp::Resource& one : resources.resources) {
    if (Status added = server.add_resource(std::move(one)); !added) return added;
  }
  for (mcp::Prompt& prompt : tools::make_prompts(services, guides)) {
    if (Status added = server.add_prompt(std::move(prompt)); !added) return added;
  }
  return {};
}

}  // namespace assay::server
