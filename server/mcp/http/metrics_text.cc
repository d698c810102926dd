#include "server/mcp/http/metrics_text.h"

#include <array>
#include <charconv>

namespace assay::mcp {
namespace {

/// A label's value between quotes.
std::string escaped(std::string_view value) {
  std::string out;
  for (const char c : value) {
    if (c == '\n') {
      out += "\\n";
      continue;
    }
    if (c == '\\' || c == '"') out += '\\';
    out += c;
  }
  return out;
}

/// The shortest text that reads back as the same number, whatever the locale.
std::string number(double value) {
  std::array<char, 32> text{};
  const auto end = std::to_chars(text.data(), text.data() + text.size(), value).ptr;
  return {text.data(), end};
}

}  // namespace

void MetricsText::family(std::string_view name, std::string_view type, std::string_view help) {
  text_.append("# HELP ")
      .append(name)
      .append(" ")
      .append(help)
      .append("\n# TYPE ")
      .append(name)
      .append(" ")
      .append(type)
      .append("\n");
}

void MetricsText::sample(std::string_view name, const Labels& labels, double value) {
  text_.append(name);
  char before = '{';
  for (const auto& [key, text] : labels) {
    text_ += before;
    text_.append(key).append("=\"").append(escaped(text)).append("\"");
    before = ',';
  }
  if (!labels.empty()) text_ += '}';
  text_.append(" ").append(number(value)).append("\n");
}

void MetricsText::gauge(std::string_view name, std::string_view help, double value) {
  family(name, "gauge", help);
  sample(name, {}, value);
}

}  // namespace assay::mcp
