#include "reference_agents/core/reply_code.h"

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <optional>
#include <vector>

#include "base/text_edits.h"

namespace assay::agents {
namespace {

bool is_blank(std::string_view text) {
  return text.find_first_not_of(" \t\r\n") == std::string_view::npos;
}

constexpr std::size_t kShortestFence = 3;
constexpr std::size_t kDeepestIndent = 3;  // CommonMark: four spaces make an indented code block

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
    return std::nullopt;  // the line has inline code, not a fence
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
  const std::size_t size = text.size();
  while (!text.empty()) {
    const std::size_t begin = size - text.size();
    const std::size_t end = text.find('\n');
    std::string_view line = text.substr(0, end);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    if (line.ends_with('\r')) line.remove_suffix(1);
    std::optional<Fence> fence = fence_of(line);
    if (open && closes(*open, fence)) {
      open.reset();
      blocks.back().closed = true;
    } else if (open) {
      const std::size_t margin = std::min({open->indent, line.find_first_not_of(' '), line.size()});
      blocks.back().text.append(line.substr(margin)).push_back('\n');
    } else if (fence) {
      blocks.push_back({fence->info, "", begin, false});
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

namespace {

/// Returns true if a line of the text begins like a statement of Python at the top level.
bool looks_like_python(std::string_view text) {
  for (const std::string& line : text_lines(text)) {
    for (const std::string_view start : {"def ", "import ", "@triton", "class "}) {
      if (line.starts_with(start)) return true;
    }
    if (line.starts_with("from ") && line.find(" import ") != std::string::npos) return true;
  }
  return false;
}

}  // namespace

std::string code_of(const CompletionReply& reply, std::string_view entry) {
  const std::vector<CodeBlock> blocks = fenced_blocks(reply.text);
  const bool cut_off = reply.end == ReplyEnd::cut_off;
  if (blocks.empty())
    return cut_off || !looks_like_python(reply.text) ? "" : extract_code(reply.text, entry);
  if (!cut_off || blocks.back().closed) return extract_code(reply.text, entry);
  const std::string_view before = std::string_view(reply.text).substr(0, blocks.back().begin);
  return blocks.size() == 1 ? "" : extract_code(before, entry);
}

std::string why_no_code(const CompletionReply& reply) {
  if (reply.end == ReplyEnd::cut_off)
    return "the reply was cut off before its code was complete (stop reason: " + reply.stop_reason +
           "): answer shorter";
  return "the reply holds no code (stop reason: " +
         (reply.stop_reason.empty() ? "none given" : reply.stop_reason) + ")";
}

}  // namespace assay::agents
