#include "server/report/text/text_table.h"

#include <algorithm>

#include "server/report/model/label.h"

namespace assay::server {

std::string padded(const std::string& text, std::size_t width) {
  return text + std::string(width - std::min(width, width_of(text)), ' ');
}

std::string text_table(const std::vector<TextRow>& rows) {
  std::vector<std::size_t> widths(rows.front().size(), 0);
  for (const TextRow& row : rows) {
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], width_of(row[i]));
  }
  std::string text;
  for (std::size_t at = 0; at < rows.size(); ++at) {
    std::string line;
    for (std::size_t i = 0; i < rows[at].size(); ++i) line += padded(rows[at][i], widths[i]) + "  ";
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + "\n";
    if (at > 0) continue;
    for (const std::size_t width : widths) text += std::string(width, '-') + "  ";
    text.erase(text.find_last_not_of(' ') + 1);
    text += "\n";
  }
  return text;
}

}  // namespace assay::server
