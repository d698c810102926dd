// Makes the resources and prompts of the server. A resource is a document that agents and IDEs read
// by its URI. A prompt is one message that a person picks in a client, as a slash command for
// example. It combines texts of tools and guides, and says which tools to call in which order.
// Resources and prompts are only a convenience: many clients support neither, so the tools offer
// the same texts.
//
//   ResourceList list = make_resources(services, guides);
//   for (mcp::ResourceTemplate& one : list.templates) server.add_template(std::move(one));
//   for (mcp::Prompt& one : make_prompts(services, guides)) server.add_prompt(std::move(one));
//
// The services must outlive the resources and prompts, which run on many threads at once.
#pragma once

#include <string>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "operators/guides.h"
#include "server/mcp/core/prompt.h"
#include "server/mcp/core/resource.h"
#include "server/mcp/core/tool.h"
#include "tools/model/services.h"

namespace assay::tools {

struct ResourceList {
  std::vector<mcp::ResourceTemplate> templates;
  std::vector<mcp::Resource> resources;  // the resources that a client can list
};

ResourceList make_resources(const Services& services, const std::vector<operators::Guide>& guides);

/// Returns the prompts. Defined in prompts.cc.
std::vector<mcp::Prompt> make_prompts(const Services& services,
                                      const std::vector<operators::Guide>& guides);

/// Calls the tool and returns the text of its answer, or its error. Resources and prompts use this
/// function to show the same text as a tool: `tool_text(fetch_spec_tool(services), {{"operator",
/// "vector_add"}}, context)`.
Result<std::string> tool_text(const mcp::Tool& tool, const nlohmann::json& arguments,
                              mcp::RequestContext& context);

}  // namespace assay::tools
