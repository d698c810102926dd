// Contains the only list of the tools that agents call. To add a tool, write tools/NAME.cc, which
// defines `mcp::Tool NAME_tool(const Services& services)`, and add one line to ASSAY_TOOLS.
//
//   for (mcp::Tool& tool : make_tools(services)) server.add_tool(std::move(tool));
//
// The services must outlive the tools. A tool's handler runs on many threads at once.
#pragma once

#include <vector>

#include "server/mcp/core/tool.h"
#include "tools/model/services.h"

/// `tools/list` shows the tools in this order.
#define ASSAY_TOOLS(TOOL) \
  TOOL(list_operators)    \
  TOOL(fetch_spec)        \
  TOOL(search_examples)   \
  TOOL(compile)           \
  TOOL(run_tests)         \
  TOOL(profile)           \
  TOOL(check)             \
  TOOL(submit)            \
  TOOL(start_run)         \
  TOOL(report_usage)      \
  TOOL(scorecard)         \
  TOOL(job)               \
  TOOL(read_artifact)

namespace assay::tools {

/// Declares list_operators_tool(), fetch_spec_tool(), ...
#define ASSAY_DECLARE_TOOL(name) mcp::Tool name##_tool(const Services& services);
ASSAY_TOOLS(ASSAY_DECLARE_TOOL)
#undef ASSAY_DECLARE_TOOL

std::vector<mcp::Tool> make_tools(const Services& services);

}  // namespace assay::tools
