#include "tools/registry.h"

namespace assay::tools {

std::vector<mcp::Tool> make_tools(const Services& services) {
#define ASSAY_MAKE_TOOL(name) name##_tool(services),
  return {ASSAY_TOOLS(ASSAY_MAKE_TOOL)};
#undef ASSAY_MAKE_TOOL
}

}  // namespace assay::tools
