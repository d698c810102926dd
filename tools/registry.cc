#include "tools/registry.h"

namespace assay::tools {

std::vector<Tool> make_tools(Services& services) {
  return {
      list_operators_tool(services), fetch_spec_tool(services), search_examples_tool(services),
      compile_tool(services),        run_tests_tool(services),  profile_tool(services),
      submit_tool(services),         start_run_tool(services),  report_usage_tool(services),
      scorecard_tool(services),      job_tool(services),        read_artifact_tool(services),
  };
}

}  // namespace assay::tools
