#include "server/report/model/format.h"

#include <cstdio>

namespace assay::report {
namespace {

struct UnitFormat {
  double scale;
  const char* value;
  const char* bound;  // of an interval
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

}  // namespace assay::report
