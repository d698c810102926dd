#include "reference_agents/sim/named_operator.h"

#include <string_view>

namespace assay::agents {

std::string named_operator(const CompletionRequest& request) {
  constexpr std::string_view kMark = "Operator: ";
  for (auto message = request.messages.rbegin(); message != request.messages.rend(); ++message) {
    const std::string text = "\n" + message->text;
    const std::size_t at = text.rfind("\n" + std::string(kMark));
    if (at == std::string::npos) continue;
    const std::size_t begin = at + 1 + kMark.size();
    const std::size_t end = text.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789_", begin);
    return text.substr(begin, end == std::string::npos ? end : end - begin);
  }
  return "";
}

}  // namespace assay::agents
