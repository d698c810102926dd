// Formats numbers and text for people: numbers by unit, with intervals, as dollars; printable
// lines, columns and tables of UTF-8 text. The terminal and the page use the same functions, so
// that a number looks alike in both. Pure functions.
//
//   with_interval(estimate, Unit::share);  // "50.0 % (28 to 72)"
//   text_table({{"operator", "outcome"}, {"vector_add", "pass"}});
//   // operator    outcome
//   // ----------  -------
//   // vector_add  pass
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "metrics/estimate.h"
#include "tools/model/services.h"

namespace assay::report {

/// ratio: "0.812". share: "81.2 %", of a value from 0 to 1. error: "0.0021", two digits.
enum class Unit { ratio, share, error };

/// Stands for a value that is absent: a dash.
inline constexpr const char* kNoValue = "–";

/// Returns kNoValue for an absent value.
std::string value_text(const std::optional<double>& value, Unit unit);
/// Returns the mean and its interval in brackets, or kNoValue for an absent estimate.
std::string with_interval(const std::optional<metrics::Estimate>& estimate, Unit unit);

/// Returns `value` in a printf format for one double, or kNoValue for an absent value.
std::string number(const std::optional<double>& value, const char* format);
/// Returns "$12.35"; below a dollar with four decimals.
std::string dollars(double amount);
/// Returns "$0.0120", "not known" or "not known, at least $0.0120"; "none" if no model cost
/// anything.
std::string cost_in_words(const tools::Usage& usage, bool no_model);

/// Makes one line of printable text of at most `limit` characters, with an ellipsis if it is cut.
/// Text that a submission caused may contain anything: control characters and malformed UTF-8
/// become spaces.
std::string printable_line(std::string_view text, std::size_t limit);

/// Returns the number of characters (code points) of UTF-8 text.
std::size_t width_of(std::string_view text);

/// Returns `text` with spaces up to `width` characters.
std::string padded(const std::string& text, std::size_t width);

using TextRow = std::vector<std::string>;  // cells

/// Returns the rows with aligned columns. The first row is the head, which is underlined. All rows
/// have as many cells as the head.
std::string text_table(const std::vector<TextRow>& rows);

}  // namespace assay::report
