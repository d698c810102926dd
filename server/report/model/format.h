// Formats numbers and texts for people: values with their unit and interval, amounts in dollars,
// printable lines, and tables of UTF-8 text. The terminal's tables use these functions. Pure
// functions.
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

/// The form in which a value is written. A ratio is written as "0.812". A share is a value from 0
/// to 1 and is written as "81.2 %". An error has two digits: "0.0021".
enum class Unit { ratio, share, error };

/// The text for a value that is absent: a dash.
inline constexpr const char* kNoValue = "–";

/// Returns the value as text, or kNoValue for an absent value.
std::string value_text(const std::optional<double>& value, Unit unit);
/// Returns the mean and, in brackets, its confidence interval. Returns kNoValue if there is no
/// estimate.
std::string with_interval(const std::optional<metrics::Estimate>& estimate, Unit unit);

/// Formats `value` with `format`, a printf format for one double. Returns kNoValue for an absent
/// value.
std::string number(const std::optional<double>& value, const char* format);
/// Returns an amount as "$12.35". Amounts below a dollar have four decimals.
std::string dollars(double amount);
/// Returns the cost of a run: "$0.0120", "not known" or "not known, at least $0.0120". If
/// `no_model` is true and nothing was paid, returns "none".
std::string cost_in_words(const tools::Usage& usage, bool no_model);

/// Returns `text` as one line of printable text with at most `limit` characters. If the text is
/// cut, the line ends with an ellipsis. The text is escaped by escape_line(), because it may come
/// from a submission or an imported file and contain anything. Several spaces in a row become one.
std::string printable_line(std::string_view text, std::size_t limit);

/// Returns the number of characters (code points) of a UTF-8 text.
std::size_t width_of(std::string_view text);

/// Appends spaces to `text` until it has `width` characters.
std::string padded(const std::string& text, std::size_t width);

using TextRow = std::vector<std::string>;  // the cells of a row

/// Returns the rows as text with aligned columns. The first row is the head, which is underlined.
/// All rows must have as many cells as the head. Each cell is escaped by escape_line(), so that no
/// cell can add a row.
std::string text_table(const std::vector<TextRow>& given);

}  // namespace assay::report
