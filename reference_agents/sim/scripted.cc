#include "reference_agents/sim/scripted.h"

#include <algorithm>
#include <fstream>
#include <iterator>
#include <string_view>

namespace assay::agents {
Result<CompletionReply> ScriptedClient::complete(const CompletionRequest& request) {
  const std::string name = named_operator(request);
  if (name.empty())
    return fail(ErrorCode::not_found,
                "scripted: the prompt names no operator; it needs a line 'Operator: NAME'");
  const std::filesystem::path file = answers_ / (name + ".md");
  std::ifstream stream(file, std::ios::binary);
  if (!stream)
    return fail(ErrorCode::not_found,
                "scripted: there is no answer for operator '" + name + "' (" + file.string() + ")");
  CompletionReply reply;
  reply.text.assign(std::istreambuf_iterator<char>(stream), {});
  reply.stop_reason = "end_of_script";
  reply.usage_known = true;
  return reply;
}

std::vector<std::string> ScriptedClient::known_operators() const {
  std::vector<std::string> names;
  std::error_code error;
  for (std::filesystem::directory_iterator it(answers_, error), end; !error && it != end;
       it.increment(error)) {
    if (it->path().extension() == ".md") names.push_back(it->path().stem().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

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
