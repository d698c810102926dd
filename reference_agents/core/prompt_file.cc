#include "reference_agents/core/prompt_file.h"

#include <fstream>
#include <iterator>
#include <set>

namespace assay::agents {

Result<std::string> fill_places(std::string_view text, const PromptValues& values) {
  std::string filled;
  std::set<std::string> used;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t open = text.find("{{", at);
    const std::size_t close = open == std::string_view::npos ? open : text.find("}}", open);
    filled += text.substr(at, open == std::string_view::npos ? open : open - at);
    if (open == std::string_view::npos) break;
    if (close == std::string_view::npos) return fail(ErrorCode::invalid_argument, "a {{ has no }}");
    const std::string name(text.substr(open + 2, close - open - 2));
    const auto value = values.find(name);
    if (value == values.end())
      return fail(ErrorCode::invalid_argument, "nothing fills the place {{" + name + "}}");
    filled += value->second;
    used.insert(name);
    at = close + 2;
  }
  for (const auto& [name, value] : values) {
    if (used.count(name) == 0)
      return fail(ErrorCode::invalid_argument, "there is no place {{" + name + "}}");
  }
  return filled;
}

Result<std::string> fill_prompt(const std::filesystem::path& file, const PromptValues& values) {
  std::ifstream stream(file, std::ios::binary);
  if (!stream) return fail_errno("open " + file.string());
  const std::string text{std::istreambuf_iterator<char>(stream), {}};
  Result<std::string> filled = fill_places(text, values);
  if (!filled) return fail(filled.error().code, file.string() + ": " + filled.error().message);
  return filled;
}

}  // namespace assay::agents
