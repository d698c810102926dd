// Splits, joins, formats, shortens and escapes text. Pure functions, thread-safe.
//
//   const std::vector<std::string> parts = split("a, b", ", ");  // {"a", "b"}
//   join(parts);                                                 // "a, b"
//   grouped(1234567);                                            // "1,234,567"
//   lower_case("Mcp-Name");                                      // "mcp-name"
//   escape_text("\x1b[2J");                                      // "\\x1b[2J"
//   escape_line("a\nnext: b");                                   // "a next: b"
//   quote_lines("a\nnext: b");                                   // "| a\n| next: b\n"
//   shell_word("it's");                                          // "'it'\\''s'"
//
// Untrusted text, such as the output of a submission, must be escaped before it is shown. Without
// escapes the text could control a terminal, reorder a line or be invalid UTF-8. Text that is
// escaped twice equals text that is escaped once. Untrusted text must also not look like a line of
// Assay's: a place that has one line gets it from escape_line(), and quote_lines() marks text of
// several lines.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace assay {

/// Joins the entries of `range` with `separator` between them. `text_of` is a function or a pointer
/// to a member that gives the text of an entry.
template <class Range, class TextOf = std::identity>
std::string join(const Range& range, std::string_view separator = ", ", TextOf text_of = {}) {
  std::string text;
  bool first = true;
  for (const auto& entry : range) {
    if (!first) text.append(separator);
    text.append(std::invoke(text_of, entry));
    first = false;
  }
  return text;
}

/// Splits `text` at each character of `separators`. Empty parts are left out.
inline std::vector<std::string> split(std::string_view text, std::string_view separators) {
  std::vector<std::string> parts;
  while (true) {
    const std::size_t start = text.find_first_not_of(separators);
    if (start == std::string_view::npos) return parts;
    const std::size_t end = std::min(text.find_first_of(separators, start), text.size());
    parts.emplace_back(text.substr(start, end - start));
    text.remove_prefix(end);
  }
}

/// Writes `number` in decimal, with commas between groups of three digits.
template <class Integer>
std::string grouped(Integer number) {
  static_assert(std::is_integral_v<Integer>);
  constexpr std::size_t kDigits = 3;
  std::string text = std::to_string(number);
  const std::size_t first = text.front() == '-' ? 1 : 0;
  for (std::size_t at = text.size(); at > first + kDigits;) text.insert(at -= kDigits, ",");
  return text;
}

/// Changes the letters A to Z to lower case. Other bytes stay as they are.
inline std::string lower_case(std::string_view text) {
  std::string out(text);
  for (char& c : out) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return out;
}

/// Replaces control characters and invalid UTF-8 by \xNN. Replaces bidirectional and invisible
/// format characters by \u{NNNN}. Line feeds and tabs stay. A carriage return before a line feed is
/// removed.
std::string escape_text(std::string_view text);

/// Escapes `text` as escape_text() does, and replaces line feeds and tabs by spaces. The result is
/// one line.
std::string escape_line(std::string_view text);

/// The mark that quote_lines() puts before each line.
inline constexpr std::string_view kQuoteMark = "| ";

/// Puts kQuoteMark before each line of `text`, and ends the last line with a line feed. Returns ""
/// for an empty text. The caller escapes the text.
std::string quote_lines(std::string_view text);

/// Quotes `text` like quote_lines(), and then shortens it like cut_middle(). So the marks count
/// against `max_bytes`: a text of empty lines is three times as long with its marks. If the tail
/// begins within a line, it has a mark too. The note about the cut is Assay's, so it has none.
std::string quote_lines(std::string_view text, std::size_t max_bytes);

bool is_utf8(std::string_view text);

/// Returns whether `text` is UTF-8 without control characters and line breaks. Line feeds, tabs and
/// the separators U+2028 and U+2029 count as such.
bool is_one_line(std::string_view text);

/// Quotes `text` as one word of a POSIX shell, if it needs quotes.
std::string shell_word(std::string_view text);

/// Shortens `text` to at most `max_bytes`. Keeps the head and the tail of the text; between them it
/// says how many bytes are cut. If `max_bytes` is less than 80, there is no room for that note, and
/// the text is cut by cut_end(). Never cuts a UTF-8 character in two.
std::string cut_middle(std::string_view text, std::size_t max_bytes);

/// Shortens `text` like cut_middle(), but the tail begins at the beginning of a line, so that each
/// line after the note still has its mark. If the tail has no line feed, only the head is kept.
std::string cut_lines(std::string_view text, std::size_t max_bytes);

/// Shortens `text` to at most `max_bytes`. A text that was cut ends in "...", unless `max_bytes` is
/// less than 4. Never cuts a UTF-8 character in two.
std::string cut_end(std::string_view text, std::size_t max_bytes);

}  // namespace assay
