// UTF-8 text for a terminal: printable lines, columns and tables. Pure functions.
//
//   text_table({{"operator", "outcome"}, {"vector_add", "pass"}})
//     operator    outcome
//     ----------  -------
//     vector_add  pass
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace assay::report {

/// Makes one line of printable text of at most `limit` characters, with an ellipsis if it is cut.
/// Text that a submission caused may contain anything: control characters and malformed UTF-8
/// become spaces.
std::string printable_line(std::string_view text, std::size_t limit);

/// The number of characters (code points) of UTF-8 text.
std::size_t width_of(std::string_view text);

/// `text` with spaces up to `width` characters.
std::string padded(const std::string& text, std::size_t width);

using TextRow = std::vector<std::string>;  // cells

/// The first row is the head, which is underlined. All rows have as many cells as the head.
std::string text_table(const std::vector<TextRow>& rows);

}  // namespace assay::report
