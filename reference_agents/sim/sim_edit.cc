#include "reference_agents/sim/sim_edit.h"

#include <algorithm>
#include <cstddef>
#include <vector>

namespace assay::agents {
namespace {

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    lines.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return lines;
}

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
