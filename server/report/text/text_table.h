// Tables of plain text for a terminal. Pure functions.
//
//   text_table({{"operator", "outcome"}, {"vector_add", "pass"}})
//     operator    outcome
//     ----------  -------
//     vector_add  pass
#pragma once

#include <string>
#include <vector>

namespace assay::server {

using TextRow = std::vector<std::string>;  // of cells

/// `text` with spaces up to `width` characters (not bytes).
std::string padded(const std::string& text, std::size_t width);

/// The first row is the head, which is underlined. Rows have as many cells as the head.
std::string text_table(const std::vector<TextRow>& rows);

}  // namespace assay::server
