#include "tools/answer/reference_source.h"

#include <algorithm>
#include <cctype>
#include <set>
#include <string_view>
#include <vector>

namespace assay::tools {
namespace {

struct Block {
  // The name of the function, class or constant that the block defines. Empty for other blocks.
  std::string name;
  std::string text;
};

bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

/// Returns "NAME" for the lines "NAME = ..." and "NAME: type = ...", and "" for other lines.
std::string assigned_name(std::string_view line) {
  std::size_t end = 0;
  while (end < line.size() && is_word(line[end])) ++end;
  const std::size_t after = line.find_first_not_of(' ', end);
  if (end == 0 || after == std::string_view::npos) return "";
  for (const std::string_view statement : {"try", "else", "finally"}) {
    if (line.substr(0, end) == statement) return "";
  }
  const bool assigned =
      line[after] == ':' || (line[after] == '=' && !line.substr(after).starts_with("=="));
  return assigned ? std::string(line.substr(0, end)) : "";
}

/// Returns "f" for the line "def f(...)", "N" for the line "N = 3", and "" for other lines.
std::string defined_name(std::string_view line) {
  for (const std::string_view keyword : {"def ", "async def ", "class "}) {
    if (!line.starts_with(keyword)) continue;
    std::size_t end = keyword.size();
    while (end < line.size() && is_word(line[end])) ++end;
    return std::string(line.substr(keyword.size(), end - keyword.size()));
  }
  return assigned_name(line);
}

bool begins_block(std::string_view line) {
  return !line.empty() && std::string_view(" \t\n)]}").find(line[0]) == std::string_view::npos;
}

std::vector<Block> blocks_of(const std::string& source) {
  std::vector<Block> blocks;
  // True while the block consists of decorators and comments, which belong to the next definition.
  bool decorated = false;
  for (std::size_t begin = 0; begin < source.size();) {
    const std::size_t end = std::min(source.find('\n', begin), source.size() - 1) + 1;
    const std::string_view line = std::string_view(source).substr(begin, end - begin);
    begin = end;
    if (blocks.empty() || (begins_block(line) && !decorated)) blocks.emplace_back();
    Block& block = blocks.back();
    block.text += line;
    if (!begins_block(line)) continue;
    decorated = line[0] == '@' || line[0] == '#';
    if (block.name.empty()) block.name = defined_name(line);
  }
  return blocks;
}

bool mentions(const std::string& text, const std::string& name) {
  for (std::size_t at = text.find(name); at != std::string::npos; at = text.find(name, at + 1)) {
    const bool starts = at == 0 || !is_word(text[at - 1]);
    const bool ends = at + name.size() == text.size() || !is_word(text[at + name.size()]);
    if (starts && ends) return true;
  }
  return false;
}

/// Returns whether `name` is one of the functions, besides `reference`, that the judge itself
/// calls. An agent never sees such a function, even if the text of a helper contains its name, for
/// example in a comment.
bool is_hook(std::string_view name) {
  return name == "inputs" || name == "mutants" || name == "shortcuts" || name == "cost";
}

/// Returns `reference` and the names that it reaches, in the order of their distance: first the
/// names in its text, then the names in the text of those definitions.
std::vector<std::string> reached_from_reference(const std::vector<Block>& blocks) {
  std::vector<std::string> reached = {"reference"};
  for (std::size_t i = 0; i < reached.size(); ++i) {
    for (const Block& block : blocks) {
      if (block.name != reached[i]) continue;
      for (const Block& other : blocks) {
        const bool is_new = !other.name.empty() && !is_hook(other.name) &&
                            std::find(reached.begin(), reached.end(), other.name) == reached.end();
        if (is_new && mentions(block.text, other.name)) reached.push_back(other.name);
      }
    }
  }
  return reached;
}

/// Returns as many whole lines of a definition as fit in `room` bytes, and a mark that lines are
/// missing. Returns "" if only the head of the definition fits.
std::string beginning(const std::string& definition, std::size_t room) {
  const std::string mark = "    # ...\n";
  if (room <= mark.size()) return "";
  const std::size_t end =
      definition.rfind('\n', std::min(room - mark.size(), definition.size()) - 1);
  const std::size_t head = definition.find(":\n");
  return end == std::string::npos || head == std::string::npos || end <= head + 1
             ? ""
             : definition.substr(0, end + 1) + mark;
}

bool is_about_the_harness(const Block& block) {
  return block.text.find("harness.") != std::string::npos;
}

/// Joins the blocks that have these names, in the order of the source. If `with_rest` is true, it
/// includes the blocks without a name, except those that mention the harness.
std::string joined(const std::vector<Block>& blocks, const std::set<std::string>& names,
                   bool with_rest) {
  std::string text;
  for (const Block& block : blocks) {
    if (block.name.empty() ? with_rest && !is_about_the_harness(block)
                           : names.count(block.name) > 0)
      text += block.text;
  }
  while (text.ends_with("\n\n")) text.pop_back();
  return text;
}

}  // namespace

std::string shown_reference(const std::string& source) {
  const std::vector<Block> blocks = blocks_of(source);
  const std::vector<std::string> reached = reached_from_reference(blocks);
  return joined(blocks, {reached.begin(), reached.end()}, true);
}

ReferenceWithin reference_within(const std::string& source, std::size_t room) {
  ReferenceWithin shown{shown_reference(source), {}};
  if (shown.text.size() <= room) return shown;
  const std::vector<Block> blocks = blocks_of(source);
  std::set<std::string> names;
  for (const std::string& name : reached_from_reference(blocks)) {
    names.insert(name);
    if (joined(blocks, names, false).size() <= room) continue;
    names.erase(name);
    if (name == "reference") return {"", {name}};
    shown.left_out.push_back(name);
  }
  shown.text = joined(blocks, names, false);
  if (shown.left_out.empty()) return shown;  // everything but the imports fits
  const std::string begun = beginning(joined(blocks, {shown.left_out.front()}, false),
                                      room - std::min(room, shown.text.size() + 1));
  if (!begun.empty()) shown.text += "\n" + begun;
  return shown;
}

}  // namespace assay::tools
