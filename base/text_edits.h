// Reads and applies SEARCH/REPLACE edits of a text. The tools apply the edits that a caller sends,
// and the reference agents those in the reply of a model.
//
//   const std::string source = "mask = offsets <= n\n";
//   const std::string sent = R"(
//   <<<<<<< SEARCH
//   mask = offsets <= n
//   =======
//   mask = offsets < n
//   >>>>>>> REPLACE
//   )";
//   Result<std::vector<Edit>> edits = parse_edits(sent);
//   Result<std::string> changed = apply_edits(source, *edits);  // "mask = offsets < n\n"
//
// The SEARCH part of an edit consists of whole lines, which must occur exactly once in the text. If
// they occur never or several times, the edit is an error, and the message names the place. Such an
// edit is never skipped, and its position is never guessed. Pure functions, thread-safe.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace assay {

struct Edit {
  std::vector<std::string> search;   // lines, at least one of them not blank
  std::vector<std::string> replace;  // the new lines; empty: the found lines are removed
};

/// Returns the lines of `text` without their ends, which are "\n" or "\r\n".
std::vector<std::string> text_lines(std::string_view text);

/// The line that begins an edit.
inline constexpr std::string_view kEditMark = "<<<<<<< SEARCH";

/// Returns the edits in a text, in order. The text may have other lines between the edits. Errors:
/// invalid_argument if there is no edit or an edit is malformed.
Result<std::vector<Edit>> parse_edits(std::string_view text);

/// Applies the edits one after the other. Errors: invalid_argument if an edit cannot be applied.
/// The message names the edit and the lines of the text that match best.
Result<std::string> apply_edits(const std::string& source, const std::vector<Edit>& edits);

/// Writes the edits as parse_edits() reads them.
std::string text_of(const std::vector<Edit>& edits);

/// Writes one edit that turns `before` into `after`. The edit quotes the lines that differ, and
/// enough neighbouring lines to be unique in `before`.
std::string edit_text(const std::string& before, const std::string& after);

}  // namespace assay
