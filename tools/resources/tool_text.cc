#include "tools/resources/tool_text.h"

#include <algorithm>
#include <array>

namespace assay::tools {
namespace {

constexpr std::array kCodes = {ErrorCode::invalid_argument,  ErrorCode::not_found,
                               ErrorCode::permission_denied, ErrorCode::resource_exhausted,
                               ErrorCode::unavailable,       ErrorCode::internal};

/// The Error that error_answer() in tools/answer/answers.h was given.
Error error_of(const mcp::ToolResult& answer) {
  const nlohmann::json& error = answer.structured.at("error");
  const auto name = error.value("code", std::string());
  const auto* code = std::find_if(kCodes.begin(), kCodes.end(),
                                  [&](ErrorCode one) { return to_string(one) == name; });
  return {code == kCodes.end() ? ErrorCode::internal : *code,
          error.value("message", std::string())};
}

}  // namespace

Result<std::string> tool_text(const mcp::Tool& tool, const nlohmann::json& arguments,
                              mcp::RequestContext& context) {
  mcp::ToolResult answer = tool.call(arguments, context);
  if (answer.work) answer = answer.work(context);
  if (answer.is_error) return fail(error_of(answer));
  return std::move(answer.text);
}

}  // namespace assay::tools
