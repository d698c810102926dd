// Fuzzes the readers of a model's reply: SEARCH/REPLACE edits and fenced code. The first NUL byte
// separates the reply from the source that it edits. Without a NUL byte the source is a small
// kernel.
//
// For any bytes there must be no crash and no undefined behaviour, and a second call must give the
// same result. The independent implementations below must read and apply the edits in the same way.
// If the text that an edit searches for occurs nowhere in the source, or several times, the edit
// must be an error. Text between fences must be returned unchanged.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/text_edits.h"
#include "reference_agents/core/reply_code.h"

namespace {

using namespace assay;
using Lines = std::vector<std::string>;

constexpr std::string_view kKernel =
    "import triton\n\n@triton.jit\ndef f(x, n):\n    i = 0\n    j = 0\n    return x\n\ndef g(x):\n "
    "   i = 0\n    return f(x)\n";
constexpr std::array<std::string_view, 4> kPython = {"python", "py", "python3", "triton"};
constexpr std::array<std::string_view, 3> kMarks = {"<<<<<<< SEARCH", "=======", ">>>>>>> REPLACE"};

void must(bool holds) {
  if (!holds) std::abort();
}

std::string normal(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool line_end = i + 1 == text.size() || text[i + 1] == '\n';
    if (text[i] != '\r' || !line_end) out += text[i];
  }
  const bool ended = text.empty() || text.back() == '\n';
  return ended ? out : out + "\n";
}

Lines split(std::string_view text) {
  Lines lines;
  std::string line;
  for (const char character : normal(text)) {
    if (character != '\n') {
      line += character;
      continue;
    }
    lines.push_back(line);
    line.clear();
  }
  return lines;
}

std::string join(const Lines& lines, std::string_view end = "\n") {
  std::string text;
  for (const std::string& line : lines) text.append(line).append(end);
  return text;
}

/// Returns the index of `line` in kMarks, or -1 if the line is not a mark.
int mark_of(const std::string& line) {
  const std::string bare = line.substr(0, line.find_last_not_of(" \t") + 1);
  for (std::size_t i = 0; i < kMarks.size(); ++i) {
    if (bare == kMarks[i]) return static_cast<int>(i);
  }
  return -1;
}

/// Reads the edits in another way than the library: from mark to mark, and not line by line. A mark
/// is a line that begins, divides or ends an edit.
std::optional<std::vector<Edit>> edits_by_marks(const Lines& lines) {
  const auto next_mark = [&](std::size_t from) {
    while (from < lines.size() && mark_of(lines[from]) < 0) ++from;
    return from;
  };
  const auto is = [&](std::size_t at, int mark) {
    return at < lines.size() && mark_of(lines[at]) == mark;
  };
  const auto between = [&](std::size_t low, std::size_t high) {
    return Lines(lines.begin() + static_cast<std::ptrdiff_t>(low) + 1,
                 lines.begin() + static_cast<std::ptrdiff_t>(high));
  };
  std::vector<Edit> edits;
  std::size_t at = 0;
  for (;;) {
    at = next_mark(at);
    // A "=======" before an edit is not a mark, but underlines a heading in the prose.
    while (is(at, 1)) at = next_mark(at + 1);
    if (at == lines.size()) break;
    const std::size_t middle = next_mark(at + 1);
    const std::size_t end = middle < lines.size() ? next_mark(middle + 1) : middle;
    if (!is(at, 0) || !is(middle, 1) || !is(end, 2)) return std::nullopt;
    edits.push_back({between(at, middle), between(middle, end)});
    if (join(edits.back().search).find_first_not_of(" \t\n") == std::string::npos)
      return std::nullopt;
    at = end + 1;
  }
  if (edits.empty()) return std::nullopt;
  return edits;
}

/// Applies the edits in another way than the library: to one text in which every line begins and
/// ends with a line feed, and not to a list of lines.
std::optional<std::string> applied_as_text(std::string_view source,
                                           const std::vector<Edit>& edits) {
  std::string text = "\n" + normal(source);
  for (const Edit& edit : edits) {
    const std::string wanted = "\n" + join(edit.search);
    const std::size_t at = text.find(wanted);
    if (at == std::string::npos || text.find(wanted, at + 1) != std::string::npos)
      return std::nullopt;
    text = text.substr(0, at + 1) + join(edit.replace) + text.substr(at + wanted.size());
  }
  return text.substr(1);
}

void check_edits(std::string_view reply, const std::string& source) {
  const auto edits = parse_edits(reply);
  const auto expected = edits_by_marks(split(reply));
  must(edits.has_value() == expected.has_value());
  if (!edits) return must(!edits.error().message.empty());
  must(edits->size() == expected->size());
  std::string written = "prose\n";
  for (std::size_t i = 0; i < edits->size(); ++i) {
    const Edit& edit = (*edits)[i];
    must(edit.search == (*expected)[i].search && edit.replace == (*expected)[i].replace);
    // The lines are joined with "\r\n", because parse_edits() removes one "\r" from the end of each
    // line. With "\n", a line that itself ends with "\r" would lose that "\r".
    Lines lines = {std::string(kMarks[0])};
    lines.insert(lines.end(), edit.search.begin(), edit.search.end());
    lines.emplace_back(kMarks[1]);
    lines.insert(lines.end(), edit.replace.begin(), edit.replace.end());
    lines.emplace_back(kMarks[2]);
    written += join(lines, "\r\n");
  }
  const auto changed = apply_edits(source, *edits);
  const auto changed_as_text = applied_as_text(source, *edits);
  must(changed.has_value() == changed_as_text.has_value());
  if (changed) must(*changed == *changed_as_text);
  if (!changed) must(changed.error().message.starts_with("edit "));
  const auto again = parse_edits(written);
  must(again && again->size() == edits->size());
  const auto changed_again = apply_edits(source, *again);
  must(changed_again.has_value() == changed.has_value());
  must(changed ? *changed_again == *changed
               : changed_again.error().message == changed.error().message);
}

/// Chooses a code block by the rules that reply_code.h documents for extract_code(). Goes from the
/// last block to the first.
std::string chosen(std::string_view reply, const std::vector<agents::CodeBlock>& blocks,
                   const std::string& entry) {
  const auto blank = [](std::string_view text) {
    return text.find_first_not_of(" \t\r\n") == std::string_view::npos;
  };
  const auto is_python = [](const agents::CodeBlock& block) {
    return std::count(kPython.begin(), kPython.end(), block.language) > 0;
  };
  const auto defines = [&](const agents::CodeBlock& block) {
    const std::string text = "\n" + block.text;
    return text.find("\ndef " + entry + "(") != std::string::npos ||
           text.find("\ndef " + entry + " ") != std::string::npos;
  };
  for (int wish = 0; wish < 3; ++wish) {
    for (auto block = blocks.rbegin(); block != blocks.rend(); ++block) {
      const bool readable = !blank(block->text) && (is_python(*block) || block->language.empty());
      if (readable && (wish == 0 ? defines(*block) : wish == 1 ? is_python(*block) : true))
        return block->text;
    }
  }
  return blocks.empty() && !blank(reply) ? std::string(reply) : "";
}

void check_code(std::string_view reply, const std::string& entry) {
  const std::vector<agents::CodeBlock> blocks = agents::fenced_blocks(reply);
  const std::string whole = normal(reply);
  for (const agents::CodeBlock& block : blocks) {
    for (const std::string& line : split(block.text)) must(whole.find(line) != std::string::npos);
  }
  must(agents::extract_code(reply, entry) == chosen(reply, blocks, entry));
  must(agents::extract_code(reply, entry) == agents::extract_code(reply, entry));
}

/// Checks that a fence which is longer than all fences in the text encloses the whole text.
void check_fenced(std::string_view text) {
  std::size_t longest = 2, run = 0;
  for (const char character : text)
    longest = std::max(longest, run = character == '`' ? run + 1 : 0);
  const std::string fence(longest + 1, '`');
  const std::vector<agents::CodeBlock> blocks =
      agents::fenced_blocks("So:\n" + fence + "python\n" + normal(text) + fence + "\nDone.");
  must(blocks.size() == 1 && blocks[0].language == "python");
  // Calls normal() twice, because the first call can leave a carriage return at the end of a line.
  must(blocks[0].text == normal(normal(text)));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const std::size_t cut = bytes.find('\0');
  const std::string_view reply = bytes.substr(0, cut);
  const std::string_view source = cut == std::string_view::npos ? kKernel : bytes.substr(cut + 1);
  check_edits(reply, std::string(source));
  check_code(reply, "f");
  check_fenced(source);
  return 0;
}
