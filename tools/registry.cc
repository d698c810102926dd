#include "tools/registry.h"

#include "tools/call/missing_scope.h"

namespace assay::tools {

std::vector<mcp::Tool> make_tools(const Services& services) {
#define ASSAY_MAKE_TOOL(name) name##_tool(services),
  std::vector<mcp::Tool> tools = {ASSAY_TOOLS(ASSAY_MAKE_TOOL)};
#undef ASSAY_MAKE_TOOL
  for (mcp::Tool& tool : tools) {
    if (tool.annotations.value("readOnlyHint", false)) continue;  // reading needs no scope
    tool.missing_scope = [&services](const nlohmann::json& arguments, const mcp::Caller& caller) {
      return missing_scope(services, arguments, caller);
    };
  }
  return tools;
}

}  // namespace assay::tools
