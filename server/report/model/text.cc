#include "server/report/model/text.h"

#include <algorithm>

namespace assay::report {
namespace {

bool is_continuation(char character) {
  return (static_cast<unsigned char>(character) & 0xC0U) == 0x80U;
}

/// Length of the well-formed UTF-8 character at `at`, or 0. C1 controls count as malformed:
/// terminals obey them.
std::size_t utf8_length(std::string_view text, std::size_t at) {
  const auto lead = static_cast<unsigned char>(text[at]);
  const std::size_t length = lead < 0x80               ? 1
                             : (lead & 0xE0U) == 0xC0U ? 2
                             : (lead & 0xF0U) == 0xE0U ? 3
                             : (lead & 0xF8U) == 0xF0U ? 4
                                                       : 0;
  if (length == 0 || at + length > text.size()) return 0;
  for (std::size_t i = 1; i < length; ++i) {
    if (!is_continuation(text[at + i])) return 0;
  }
  if (lead == 0xC2U && static_cast<unsigned char>(text[at + 1]) < 0xA0U) return 0;
  return length;
}

}  // namespace

std::string printable_line(std::string_view text, std::size_t limit) {
  std::string line;
  std::size_t width = 0;
  std::size_t at = 0;
  while (at < text.size()) {
    const std::size_t length = utf8_length(text, at);
    const bool control =
        length == 0 ||
        (length == 1 && (static_cast<unsigned char>(text[at]) < 0x20 || text[at] == 0x7f));
    const std::string_view character = control ? std::string_view(" ") : text.substr(at, length);
    at += std::max<std::size_t>(length, 1);
    if (character == " " && (line.empty() || line.back() == ' ')) continue;
    if (width == limit) {
      while (!line.empty() && is_continuation(line.back())) line.pop_back();
      if (!line.empty()) line.pop_back();
      return line + "…";
    }
    line += character;
    ++width;
  }
  while (!line.empty() && line.back() == ' ') line.pop_back();
  return line;
}

std::size_t width_of(std::string_view text) {
  return static_cast<std::size_t>(std::count_if(
      text.begin(), text.end(), [](char character) { return !is_continuation(character); }));
}

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

}  // namespace assay::report
