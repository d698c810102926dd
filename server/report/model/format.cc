#include "server/report/html/markup.h"

#include <cstdio>

namespace assay::server {
namespace {

std::string interval_text(const metrics::Estimate& estimate, double scale, const char* format) {
  if (estimate.method == metrics::IntervalMethod::none) return "";
  return " (" + number(scale * estimate.interval.low, format) + " to " +
         number(scale * estimate.interval.high, format) + ")";
}

}  // namespace

std::string escaped(std::string_view text) {
  std::string out;
  for (const char character : text) {
    switch (character) {
      case '&': out += "&amp;"; break;
      case '<': out += "&lt;"; break;
      case '>': out += "&gt;"; break;
      case '"': out += "&quot;"; break;
      case '\'': out += "&#39;"; break;
      default:
        out += static_cast<unsigned char>(character) < 0x20 || character == 0x7f ? ' ' : character;
    }
  }
  return out;
}

std::string number(const std::optional<double>& value, const char* format) {
  if (!value) return "–";
  char text[64];
  std::snprintf(text, sizeof(text), format, *value);
  return text;
}

std::string grouped(std::int64_t count) {
  constexpr std::size_t kDigits = 3;
  std::string text = std::to_string(count);
  const std::size_t first = text.front() == '-' ? 1 : 0;
  for (std::size_t at = text.size(); at > first + kDigits;) text.insert(at -= kDigits, ",");
  return text;
}

std::string dollars(double amount) { return number(amount, amount < 1 ? "$%.4f" : "$%.2f"); }

std::string cost_in_words(const tools::Usage& usage, bool no_model) {
  if (no_model && !(usage.cost_usd > 0)) return "none";
  if (usage.cost_known) return dollars(usage.cost_usd);
  return usage.cost_usd > 0 ? "not known, at least " + dollars(usage.cost_usd) : "not known";
}

std::string share_with_interval(const std::optional<metrics::Estimate>& estimate) {
  if (!estimate) return "–";
  return number(100 * estimate->value, "%.1f %%") + interval_text(*estimate, 100, "%.0f");
}

std::string ratio_with_interval(const std::optional<metrics::Estimate>& estimate) {
  if (!estimate) return "–";
  return number(estimate->value, "%.3f") + interval_text(*estimate, 1, "%.2f");
}

}  // namespace assay::server
