#include "reference_agents/core/reply_code.h"

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <optional>
#include <vector>

namespace assay::agents {
namespace {

bool is_blank(std::string_view text) {
  return text.find_first_not_of(" \t\r\n") == std::string_view::npos;
}

std::vector<std::string> lines_of(std::string_view text) {
  std::vector<std::string> lines;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    std::string_view line = text.substr(0, end);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    if (line.ends_with('\r')) line.remove_suffix(1);
    lines.emplace_back(line);
  }
  return lines;
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
  for (const std::string& line : lines_of(text)) {
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

namespace {

constexpr std::string_view kMiddle = "=======";
constexpr std::string_view kReplace = ">>>>>>> REPLACE";

enum class Part { outside, search, replace };

/// Removes spaces and tabs from the end of a line.
std::string_view trimmed(std::string_view line) {
  while (!line.empty() && (line.back() == ' ' || line.back() == '\t')) line.remove_suffix(1);
  return line;
}

tl::unexpected<Error> refuse(std::size_t number, const std::string& why) {
  return fail(ErrorCode::invalid_argument, "edit " + std::to_string(number) + " " + why);
}

/// Returns every index in `lines` where `wanted` begins.
std::vector<std::size_t> places_of(const std::vector<std::string>& wanted,
                                   const std::vector<std::string>& lines) {
  std::vector<std::size_t> places;
  for (std::size_t at = 0; at + wanted.size() <= lines.size(); ++at) {
    if (std::equal(wanted.begin(), wanted.end(), lines.begin() + static_cast<std::ptrdiff_t>(at)))
      places.push_back(at);
  }
  return places;
}

}  // namespace

Result<std::vector<Edit>> parse_edits(std::string_view reply) {
  std::vector<Edit> edits;
  Part part = Part::outside;
  for (const std::string& line : lines_of(reply)) {
    const std::string_view mark = trimmed(line);
    const bool known = mark == kEditMark || mark == kReplace ||
                       // Outside of an edit, a line of "=" is no mark: it underlines a heading.
                       (mark == kMiddle && part != Part::outside);
    if (!known) {
      if (part == Part::search) edits.back().search.push_back(line);
      if (part == Part::replace) edits.back().replace.push_back(line);
    } else if (mark == kEditMark && part == Part::outside) {
      edits.emplace_back();
      part = Part::search;
    } else if (mark == kMiddle && part == Part::search) {
      part = Part::replace;
    } else if (mark == kReplace && part == Part::replace) {
      part = Part::outside;
    } else {
      return refuse(std::max<std::size_t>(edits.size(), 1),
                    "is malformed: '" + std::string(mark) +
                        "' stands in the wrong place; the order is '" + std::string(kEditMark) +
                        "', '" + std::string(kMiddle) + "', '" + std::string(kReplace) + "'");
    }
  }
  if (part != Part::outside)
    return refuse(edits.size(), "does not end with '" + std::string(kReplace) + "'");
  if (edits.empty()) return fail(ErrorCode::invalid_argument, "the reply holds no edit");
  for (std::size_t i = 0; i < edits.size(); ++i) {
    if (std::all_of(edits[i].search.begin(), edits[i].search.end(), is_blank))
      return refuse(i + 1, "searches for nothing: quote the lines to change");
  }
  return edits;
}

Result<std::string> apply_edits(const std::string& source, const std::vector<Edit>& edits) {
  std::vector<std::string> lines = lines_of(source);
  for (std::size_t i = 0; i < edits.size(); ++i) {
    const Edit& edit = edits[i];
    const std::vector<std::size_t> places = places_of(edit.search, lines);
    if (places.empty()) {
      return refuse(i + 1,
                    "matches nothing: no lines of the code are exactly the ones searched for, "
                    "which begin with '" +
                        edit.search.front() + "'");
    }
    if (places.size() > 1) {
      return refuse(i + 1, "matches " + std::to_string(places.size()) + " places (lines " +
                               std::to_string(places[0] + 1) + " and " +
                               std::to_string(places[1] + 1) +
                               "): quote more lines around the one that is meant");
    }
    const auto first = lines.begin() + static_cast<std::ptrdiff_t>(places[0]);
    const auto after = lines.erase(first, first + static_cast<std::ptrdiff_t>(edit.search.size()));
    lines.insert(after, edit.replace.begin(), edit.replace.end());
  }
  std::string text;
  for (const std::string& line : lines) text += line + "\n";
  return text;
}

namespace {

std::string joined(const std::vector<std::string>& lines, std::size_t first, std::size_t last) {
  std::string text;
  for (std::size_t i = first; i < last; ++i) text += lines[i] + "\n";
  return text;
}

}  // namespace

std::string edit_text(const std::string& before, const std::string& after) {
  const std::vector<std::string> old_lines = lines_of(before);
  const std::vector<std::string> new_lines = lines_of(after);
  const std::size_t shorter = std::min(old_lines.size(), new_lines.size());
  std::size_t head = 0;
  while (head < shorter && old_lines[head] == new_lines[head]) ++head;
  std::size_t tail = 0;
  while (tail < shorter - head &&
         old_lines[old_lines.size() - 1 - tail] == new_lines[new_lines.size() - 1 - tail])
    ++tail;
  const auto unique = [&] {
    const std::string text = joined(old_lines, head, old_lines.size() - tail);
    const std::size_t at = before.find(text);
    return !text.empty() && at != std::string::npos &&
           before.find(text, at + 1) == std::string::npos;
  };
  while (!unique() && (head > 0 || tail > 0)) {
    if (head > 0) --head;
    if (tail > 0) --tail;
  }
  return std::string(kEditMark) + "\n" + joined(old_lines, head, old_lines.size() - tail) +
         "=======\n" + joined(new_lines, head, new_lines.size() - tail) + ">>>>>>> REPLACE\n";
}

}  // namespace assay::agents
