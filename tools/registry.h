// The tools that agents call, independent of the protocol that carries them: one function per tool,
// each in the file of the tool's name. registry.cc puts them into THE list. `services` must outlive
// the tools.
#pragma once

#include <vector>

#include "tools/model/tool.h"

namespace assay::tools {

Tool list_operators_tool(Services& services);
Tool fetch_spec_tool(Services& services);
Tool search_examples_tool(Services& services);
Tool compile_tool(Services& services);
Tool run_tests_tool(Services& services);
Tool profile_tool(Services& services);
Tool submit_tool(Services& services);
Tool start_run_tool(Services& services);
Tool report_usage_tool(Services& services);
Tool scorecard_tool(Services& services);
Tool job_tool(Services& services);
Tool read_artifact_tool(Services& services);

/// Every tool, in the order in which `tools/list` shows them.
std::vector<Tool> make_tools(Services& services);

}  // namespace assay::tools
