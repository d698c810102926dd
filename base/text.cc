#include "base/text.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>

namespace assay {
namespace {

struct Decoded {
  std::uint32_t code = 0;
  std::size_t bytes = 0;  // 0: invalid UTF-8
};

/// Decodes the first UTF-8 character of `text`. Rejects overlong forms, surrogates and codes above
/// U+10FFFF.
Decoded decode(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned first = byte(0);
  if (first < 0x80) return {first, 1};
  const std::size_t bytes = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
  if (first < 0xc2 || first > 0xf4 || text.size() < bytes) return {};
  std::uint32_t code = first & (0xffU >> (bytes + 1));
  for (std::size_t i = 1; i < bytes; ++i) {
    if ((byte(i) & 0xc0) != 0x80) return {};
    code = (code << 6) | (byte(i) & 0x3f);
  }
  constexpr std::array<std::uint32_t, 5> kLeast = {0, 0, 0x80, 0x800, 0x10000};
  if (code < kLeast[bytes] || code > 0x10ffff || (code >= 0xd800 && code <= 0xdfff)) return {};
  return {code, bytes};
}

struct CodeRange {
  std::uint32_t first = 0, last = 0;
};

// The characters that are invisible or that change how the neighbouring characters are shown:
// Unicode's Default_Ignorable_Code_Point, line and paragraph separators, bidirectional embeddings,
// and annotations. Selectors of variants (U+FE00 to U+FE0F) are escaped after an emoji too.
constexpr std::array<CodeRange, 17> kDeceptive = {{{0xad, 0xad},
                                                   {0x34f, 0x34f},
                                                   {0x61c, 0x61c},
                                                   {0x115f, 0x1160},
                                                   {0x17b4, 0x17b5},
                                                   {0x180b, 0x180f},
                                                   {0x200b, 0x200f},
                                                   {0x2028, 0x202e},
                                                   {0x2060, 0x206f},
                                                   {0x3164, 0x3164},
                                                   {0xfe00, 0xfe0f},
                                                   {0xfeff, 0xfeff},
                                                   {0xffa0, 0xffa0},
                                                   {0xfff0, 0xfffb},
                                                   {0x1bca0, 0x1bca3},
                                                   {0x1d173, 0x1d17a},
                                                   {0xe0000, 0xe0fff}}};

bool is_deceptive(std::uint32_t code) {
  return std::any_of(kDeceptive.begin(), kDeceptive.end(), [&](const CodeRange& range) {
    return code >= range.first && code <= range.last;
  });
}

/// Returns true for all control characters, also for line feeds and tabs.
bool is_control(std::uint32_t code) { return code < 0x20 || (code >= 0x7f && code < 0xa0); }

bool is_line_break(std::uint32_t code) { return code == 0x2028 || code == 0x2029; }

std::string formatted(const char* format, unsigned value) {
  std::array<char, 16> buffer{};
  std::snprintf(buffer.data(), buffer.size(), format, value);
  return buffer.data();
}

/// Escapes the text. Appends `space` for each line feed and tab, or the character itself if `space`
/// is 0.
std::string escaped(std::string_view text, char space) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const Decoded next = decode(text);
    if (next.bytes == 0) {
      out += formatted("\\x%02x", static_cast<unsigned char>(text[0]));
      text.remove_prefix(1);
      continue;
    }
    if (text.starts_with("\r\n")) {
      text.remove_prefix(1);
      continue;
    }
    if (next.code == '\n' || next.code == '\t') {
      out += space == 0 ? text[0] : space;
    } else if (is_control(next.code)) {
      out += formatted("\\x%02x", next.code);
    } else if (is_deceptive(next.code)) {
      out += formatted("\\u{%04x}", next.code);
    } else {
      out.append(text.substr(0, next.bytes));
    }
    text.remove_prefix(next.bytes);
  }
  return out;
}

bool continues(char c) { return (static_cast<unsigned char>(c) & 0xc0) == 0x80; }

std::string_view head_of(std::string_view text, std::size_t bytes) {
  while (bytes > 0 && bytes < text.size() && continues(text[bytes])) --bytes;
  return text.substr(0, bytes);
}

std::string_view tail_of(std::string_view text, std::size_t bytes) {
  std::size_t begin = text.size() - bytes;
  while (begin < text.size() && continues(text[begin])) ++begin;
  return text.substr(begin);
}

/// Where the tail of a shortened text begins: anywhere; at the beginning of a line; anywhere, but
/// with a mark if it is not the beginning of a line.
enum class Tail { anywhere, whole_lines, marked };

/// Cuts the middle out.
std::string shortened(std::string_view text, std::size_t max_bytes, Tail kind) {
  if (text.size() <= max_bytes) return std::string(text);
  constexpr std::size_t kNoteBytes = 40;
  if (max_bytes < 2 * kNoteBytes) return cut_end(text, max_bytes);
  const std::size_t keep = max_bytes - kNoteBytes;
  const std::string_view head = head_of(text, keep * 2 / 3);
  const std::size_t mark = kind == Tail::marked ? kQuoteMark.size() : 0;
  std::string_view tail = tail_of(text, keep - keep * 2 / 3 - mark);
  const bool within_a_line = text[text.size() - tail.size() - 1] != '\n';
  if (kind == Tail::whole_lines && within_a_line)
    tail.remove_prefix(std::min(tail.find('\n'), tail.size() - 1) + 1);
  return std::string(head) + "\n[... " + std::to_string(text.size() - head.size() - tail.size()) +
         " bytes cut ...]\n" +
         std::string(kind == Tail::marked && within_a_line ? kQuoteMark : std::string_view()) +
         std::string(tail);
}

}  // namespace

std::string escape_text(std::string_view text) { return escaped(text, 0); }

std::string escape_line(std::string_view text) { return escaped(text, ' '); }

std::string quote_lines(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const std::size_t bytes = std::min(text.find('\n'), text.size());
    out.append(kQuoteMark).append(text.substr(0, bytes)).append("\n");
    text.remove_prefix(std::min(bytes + 1, text.size()));
  }
  return out;
}

std::string quote_lines(std::string_view text, std::size_t max_bytes) {
  return shortened(quote_lines(text), max_bytes, Tail::marked);
}

bool is_utf8(std::string_view text) {
  while (!text.empty()) {
    const Decoded next = decode(text);
    if (next.bytes == 0) return false;
    text.remove_prefix(next.bytes);
  }
  return true;
}

bool is_one_line(std::string_view text) {
  while (!text.empty()) {
    const Decoded next = decode(text);
    if (next.bytes == 0 || is_control(next.code) || is_line_break(next.code)) return false;
    text.remove_prefix(next.bytes);
  }
  return true;
}

std::string cut_middle(std::string_view text, std::size_t max_bytes) {
  return shortened(text, max_bytes, Tail::anywhere);
}

std::string cut_lines(std::string_view text, std::size_t max_bytes) {
  return shortened(text, max_bytes, Tail::whole_lines);
}

std::string cut_end(std::string_view text, std::size_t max_bytes) {
  if (text.size() <= max_bytes) return std::string(text);
  return max_bytes < 4 ? std::string(head_of(text, max_bytes))
                       : std::string(head_of(text, max_bytes - 3)) + "...";
}

std::string shell_word(std::string_view text) {
  constexpr std::string_view kPlain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./:=@%+,";
  if (!text.empty() && text.find_first_not_of(kPlain) == std::string_view::npos)
    return std::string(text);
  std::string word = "'";
  for (const char c : text) word += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return word + "'";
}

}  // namespace assay
