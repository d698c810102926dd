// One function per tool, each in the file of the tool's name. registry.cc puts them into THE list. `services` must outlive the tool.
#pragma once

#include "tools/registry.h"

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

}  // namespace assay::tools
