// The prompts that a person picks in a client (as a slash command, say) to give an agent a task.
// Each is one message, which combines texts of tools and guides and says which tools to call in
// which order.
//
//   for (mcp::Prompt& prompt : make_prompts(services, guides))
//   server.add_prompt(std::move(prompt));
//
// The services must outlive the prompts. A `get` runs on many threads at once.
#pragma once

#include <vector>

#include "operators/guides.h"
#include "server/mcp/core/prompt.h"
#include "tools/model/services.h"

namespace assay::tools {

std::vector<mcp::Prompt> make_prompts(const Services& services,
                                      const std::vector<operators::Guide>& guides);

}  // namespace assay::tools
