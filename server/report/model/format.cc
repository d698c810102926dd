#include "server/report/model/format.h"

#include <algorithm>
#include <cstdio>

#include "base/text.h"

namespace assay::report {
namespace {

struct UnitFormat {
  double scale;
  const char* value;
  const char* bound;  // the format of an interval's bounds
};

UnitFormat format_of(Unit unit) {
  switch (unit) {
    case Unit::ratio: return {1, "%.3f", "%.2f"};
    case Unit::share: return {100, "%.1f %%", "%.0f"};
    case Unit::error: return {1, "%.2g", "%.2g"};
  }
  return {1, "%g", "%g"};
}

}  // namespace

std::string number(const std::optional<double>& value, const char* format) {
  if (!value) return kNoValue;
  char text[64];
  std::snprintf(text, sizeof(text), format, *value);
  return text;
}

std::string dollars(double amount) { return number(amount, amount < 1 ? "$%.4f" : "$%.2f"); }

std::string cost_in_words(const tools::Usage& usage, bool no_model) {
  if (no_model && !(usage.cost_usd > 0)) return "none";
  if (usage.cost_known) return dollars(usage.cost_usd);
  return usage.cost_usd > 0 ? "not known, at least " + dollars(usage.cost_usd) : "not known";
}

std::string value_text(const std::optional<double>& value, Unit unit) {
  const UnitFormat format = format_of(unit);
  return number(value ? std::optional(format.scale * *value) : std::nullopt, format.value);
}

std::string with_interval(const std::optional<metrics::Estimate>& estimate, Unit unit) {
  if (!estimate) return value_text(std::nullopt, unit);
  std::string value = value_text(estimate->value, unit);
  if (estimate->method == metrics::IntervalMethod::none) return value;
  const UnitFormat format = format_of(unit);
  return value + " (" + number(format.scale * estimate->interval.low, format.bound) + " to " +
         number(format.scale * estimate->interval.high, format.bound) + ")";
}

namespace {

bool is_continuation(char character) {
  return (static_cast<unsigned char>(character) & 0xC0U) == 0x80U;
}

}  // namespace

std::string printable_line(std::string_view text, std::size_t limit) {
  const std::string escaped = escape_line(text);
  std::string line;
  std::size_t width = 0;
  for (std::size_t at = 0, end = 0; at < escaped.size(); at = end) {
    end = at + 1;
    while (end < escaped.size() && is_continuation(escaped[end])) ++end;
    const std::string_view character = std::string_view(escaped).substr(at, end - at);
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

std::string text_table(const std::vector<TextRow>& given) {
  std::vector<TextRow> rows = given;
  for (TextRow& row : rows) {
    for (std::string& cell : row) cell = escape_line(cell);
  }
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
