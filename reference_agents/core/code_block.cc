#include "reference_agents/core/code_block.h"

#include <algorithm>
#include <cctype>
#include <optional>

namespace assay::agents {
namespace {

constexpr std::size_t kShortestFence = 3;
constexpr std::size_t kDeepestIndent = 3;  // CommonMark: four spaces are a code block already

struct Fence {
  char mark = '`';
  std::size_t length = 0;
  std::size_t indent = 0;
  std::string info;
};

std::optional<Fence> fence_of(std::string_view line) {
  Fence fence;
  while (fence.indent < line.size() && line[fence.indent] == ' ') ++fence.indent;
  if (fence.indent > kDeepestIndent || fence.indent == line.size()) return std::nullopt;
  fence.mark = line[fence.indent];
  if (fence.mark != '`' && fence.mark != '~') return std::nullopt;
  const std::size_t end = std::min(line.find_first_not_of(fence.mark, fence.indent), line.size());
  fence.length = end - fence.indent;
  if (fence.length < kShortestFence) return std::nullopt;
  std::string_view info = line.substr(end);
  if (fence.mark == '`' && info.find('`') != std::string_view::npos)
    return std::nullopt;  // inline code
  while (!info.empty() && std::isspace(static_cast<unsigned char>(info.front())))
    info.remove_prefix(1);
  info = info.substr(0, info.find_first_of(" \t{,"));
  for (const char character : info)
    fence.info += static_cast<char>(std::tolower(static_cast<unsigned char>(character)));
  return fence;
}

bool closes(const Fence& open, const std::optional<Fence>& candidate) {
  return candidate && candidate->mark == open.mark && candidate->length >= open.length &&
         candidate->info.empty();
}

bool is_python(const std::string& language) {
  return language == "python" || language == "py" || language == "python3" || language == "triton";
}

bool is_blank(std::string_view text) {
  return text.find_first_not_of(" \t\r\n") == std::string_view::npos;
}

bool defines(const std::string& source, std::string_view entry) {
  if (entry.empty()) return false;
  const std::string definition = "def " + std::string(entry);
  for (std::size_t at = source.find(definition); at != std::string::npos;
       at = source.find(definition, at + 1)) {
    const std::size_t after = at + definition.size();
    const bool line_start = at == 0 || source[at - 1] == '\n';
    if (line_start && after < source.size() && (source[after] == '(' || source[after] == ' '))
      return true;
  }
  return false;
}

}  // namespace

std::vector<CodeBlock> fenced_blocks(std::string_view text) {
  std::vector<CodeBlock> blocks;
  std::optional<Fence> open;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    std::string_view line = text.substr(0, end);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    if (line.ends_with('\r')) line.remove_suffix(1);
    std::optional<Fence> fence = fence_of(line);
    if (open && closes(*open, fence)) {
      open.reset();
    } else if (open) {
      const std::size_t margin = std::min({open->indent, line.find_first_not_of(' '), line.size()});
      blocks.back().text.append(line.substr(margin)).push_back('\n');
    } else if (fence) {
      blocks.push_back({fence->info, ""});
      open = std::move(fence);
    }
  }
  return blocks;
}

std::string extract_code(std::string_view reply, std::string_view entry) {
  const std::vector<CodeBlock> blocks = fenced_blocks(reply);
  const CodeBlock* best = nullptr;
  int best_rank = 0;
  for (const CodeBlock& block : blocks) {
    if (is_blank(block.text)) continue;
    const bool readable = is_python(block.language) || block.language.empty();
    const int rank = !readable                    ? 0
                     : defines(block.text, entry) ? 3
                     : is_python(block.language)  ? 2
                                                  : 1;
    if (rank > 0 && rank >= best_rank) {
      best = &block;
      best_rank = rank;
    }
  }
  if (best != nullptr) return best->text;
  if (!blocks.empty() || is_blank(reply)) return "";
  return std::string(reply);
}

}  // namespace assay::agents
