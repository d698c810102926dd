#include "base/text.h"

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

/// Returns true for characters that are invisible or that change how the neighbouring characters
/// are shown.
bool is_deceptive(std::uint32_t code) {
  return code == 0x061c || (code >= 0x200b && code <= 0x200f) ||
         (code >= 0x2028 && code <= 0x202e) || (code >= 0x2060 && code <= 0x2069) ||
         code == 0xfeff || (code >= 0xfff9 && code <= 0xfffb) ||
         (code >= 0xe0000 && code <= 0xe007f);
}

bool is_control(std::uint32_t code) {
  return (code < 0x20 && code != '\n' && code != '\t') || (code >= 0x7f && code < 0xa0);
}

std::string formatted(const char* format, unsigned value) {
  std::array<char, 16> buffer{};
  std::snprintf(buffer.data(), buffer.size(), format, value);
  return buffer.data();
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

}  // namespace

std::string escape_text(std::string_view text) {
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
    if (is_control(next.code)) {
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

bool is_utf8(std::string_view text) {
  while (!text.empty()) {
    const Decoded next = decode(text);
    if (next.bytes == 0) return false;
    text.remove_prefix(next.bytes);
  }
  return true;
}

std::string cut_middle(std::string_view text, std::size_t max_bytes) {
  if (text.size() <= max_bytes) return std::string(text);
  constexpr std::size_t kNoteBytes = 40;
  if (max_bytes < 2 * kNoteBytes) return cut_end(text, max_bytes);
  const std::size_t keep = max_bytes - kNoteBytes;
  const std::string_view head = head_of(text, keep * 2 / 3);
  const std::string_view tail = tail_of(text, keep - keep * 2 / 3);
  return std::string(head) + "\n[... " + std::to_string(text.size() - head.size() - tail.size()) +
         " bytes cut ...]\n" + std::string(tail);
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
