#include "sandbox/wire/sanitizer_tool.h"

namespace assay::sandbox {

std::string_view to_string(SanitizerTool tool) {
  switch (tool) {
    case SanitizerTool::memcheck: return "memcheck";
    case SanitizerTool::racecheck: return "racecheck";
    case SanitizerTool::initcheck: return "initcheck";
    case SanitizerTool::synccheck: return "synccheck";
  }
  return "?";  // `tool` is not an enumerator; sanitizer_tool_from() rejects this name
}

std::optional<SanitizerTool> sanitizer_tool_from(std::string_view text) {
  for (const SanitizerTool tool : kSanitizerTools) {
    if (to_string(tool) == text) return tool;
  }
  return std::nullopt;
}

}  // namespace assay::sandbox
