#include "tools/reference_source.h"

#include <cctype>
#include <set>
#include <string_view>
#include <vector>

namespace assay::tools {
namespace {

struct Block {
  std::string name;  // of the function, class or constant; empty for anything else
  std::string text;
};

bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

/// "NAME = ..." and "NAME: type = ..." -> "NAME"; empty for other lines.
std::string assigned_name(std::string_view line) {
  std::size_t end = 0;
  while (end < line.size() && is_word(line[end])) ++end;
  const std::size_t after = line.find_first_not_of(' ', end);
  if (end == 0 || after == std::string_view::npos) return "";
  for (const std::string_view statement : {"try", "else", "finally"}) {
    if (line.substr(0, end) == statement) return "";
  }
  const bool assigned = line[after] == ':' || (line[after] == '=' && !line.substr(after).starts_with("=="));
  return assigned ? std::string(line.substr(0, end)) : "";
}

/// "def f(...)" -> "f", "N = 3" -> "N"; empty for other lines.
std::string defined_name(std::string_view line) {
  for (const std::string_view keyword : {"def ", "async def ", "class "}) {
    if (!line.starts_with(keyword)) continue;
    std::size_t end = keyword.size();
    while (end < line.size() && is_word(line[end])) ++end;
    return std::string(line.substr(keyword.size(), end - keyword.size()));
  }
  return assigned_name(line);
}

bool begins_block(std::string_view line) { return !line.empty() && std::string_view(" \t\n)]}").find(line[0]) == std::string_view::npos; }

std::vector<Block> blocks_of(const std::string& source) {
  std::vector<Block> blocks;
  bool decorated = false;  // the block so far is decorators or comments, which belong to what follows
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

}  // namespace

std::string shown_reference(const std::string& source) {
  const std::vector<Block> blocks = blocks_of(source);
  std::set<std::string> reached = {"reference"};
  for (std::size_t before = 0; before != reached.size();) {
    before = reached.size();
    for (const Block& block : blocks) {
      if (block.name.empty() || reached.count(block.name) == 0) continue;
      for (const Block& other : blocks) {
        if (!other.name.empty() && mentions(block.text, other.name)) reached.insert(other.name);
      }
    }
  }
  std::string shown;
  for (const Block& block : blocks) {
    if (block.name.empty() ? block.text.find("harness.") == std::string::npos : reached.count(block.name) > 0) shown += block.text;
  }
  while (shown.ends_with("\n\n")) shown.pop_back();
  return shown;
}

}  // namespace assay::tools
