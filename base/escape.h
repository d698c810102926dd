// Untrusted text made safe to show: what a submission printed or raised must not drive a terminal,
// reorder a line, or break UTF-8.
//
//   escape_text("\x1b[2J")  ->  "\\x1b[2J"        line feeds and tabs stay
//
// Escaping what was escaped changes nothing, so text is escaped once however many layers it passes.
// Pure functions, thread-safe.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace assay {

/// Control characters and bytes that are no UTF-8 become \xNN; bidi and invisible format characters
/// become \u{NNNN}.
std::string escape_text(std::string_view text);

bool is_utf8(std::string_view text);

/// At most `max_bytes`: head and tail stay, and the middle says how much is gone. Never cuts a
/// UTF-8 character in two.
std::string cut_middle(std::string_view text, std::size_t max_bytes);

/// At most `max_bytes` from the front, with "..." when something is gone.
std::string cut_end(std::string_view text, std::size_t max_bytes);

}  // namespace assay
