#include "tools/resources/tool_text.h"

#include <algorithm>
#include <array>

#include "tools/answer/answers.h"

namespace assay::tools {
namespace {

constexpr std::array kCodes = {ErrorCode::invalid_argument,  ErrorCode::not_found,
                               ErrorCode::permission_denied, ErrorCode::resource_exhausted,
                               ErrorCode::unavailable,       ErrorCode::internal};

/// The Error that error_answer() (answers.h) made this answer of.
Error error_of(const Answer& answer) {
  const nlohmann::json& error = answer.structured.at("error");
  const std::string name = text_argument(error, "code");
  const auto* code = std::find_if(kCodes.begin(), kCodes.end(),
                                  [&](ErrorCode one) { return to_string(one) == name; });
  return {code == kCodes.end() ? ErrorCode::internal : *code, text_argument(error, "message")};
}

}  // namespace

Result<std::string> tool_text(const Tool& tool, const nlohmann::json& arguments) {
  const CallContext alone{[](double, double, const std::string&) {}, [] { return false; }};
  Answer answer = tool.run(arguments, alone);
  if (answer.is_error) return fail(error_of(answer));
  return std::move(answer.text);
}

}  // namespace assay::tools
