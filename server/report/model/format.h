// Formats the numbers of a report: by unit, with intervals, as dollars. Every form for people uses
// these, so that a number looks alike in the terminal and on the page. Pure functions.
//
//   with_interval(estimate, Unit::share)  ->  "50.0 % (28 to 72)"
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "metrics/estimate.h"
#include "tools/model/services.h"

namespace assay::report {

/// ratio: "0.812". share: "81.2 %", of a value from 0 to 1. error: "0.0021", two digits.
enum class Unit { ratio, share, error };

/// What stands for a value that is absent: a dash.
inline constexpr const char* kNoValue = "–";

/// kNoValue for no value.
std::string value_text(const std::optional<double>& value, Unit unit);
/// The mean and its interval in brackets; kNoValue for no estimate.
std::string with_interval(const std::optional<metrics::Estimate>& estimate, Unit unit);

/// `format` is printf's, for one double. kNoValue for no value.
std::string number(const std::optional<double>& value, const char* format);
/// "$12.35"; four decimals below a dollar.
std::string dollars(double amount);
/// "$0.0120", "not known", "not known, at least $0.0120"; "none" where no model cost anything.
std::string cost_in_words(const tools::Usage& usage, bool no_model);

}  // namespace assay::report
