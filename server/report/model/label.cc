#include "server/report/model/label.h"

#include <algorithm>

namespace assay::server {
namespace {

using sandbox::ErrorKind;
using sandbox::Outcome;
using sandbox::Stage;

bool is_continuation(char character) {
  return (static_cast<unsigned char>(character) & 0xC0U) == 0x80U;
}

/// Length of the well-formed UTF-8 character at `at`, or 0. C1 controls count as malformed:
/// terminals obey them.
std::size_t utf8_length(std::string_view text, std::size_t at) {
  const auto lead = static_cast<unsigned char>(text[at]);
  const std::size_t length = lead < 0x80               ? 1
                             : (lead & 0xE0U) == 0xC0U ? 2
                             : (lead & 0xF0U) == 0xE0U ? 3
                             : (lead & 0xF8U) == 0xF0U ? 4
                                                       : 0;
  if (length == 0 || at + length > text.size()) return 0;
  for (std::size_t i = 1; i < length; ++i) {
    if (!is_continuation(text[at + i])) return 0;
  }
  if (lead == 0xC2U && static_cast<unsigned char>(text[at + 1]) < 0xA0U) return 0;
  return length;
}

}  // namespace

std::string_view to_string(Label label) {
  switch (label) {
    case Label::pass: return "pass";
    case Label::slow: return "pass, slow";
    case Label::wrong: return "wrong";
    case Label::no_compile: return "does not compile";
    case Label::error: return "error";
    case Label::needs_gpu: return "needs a GPU";
    case Label::missing: return "not submitted";
  }
  return "error";
}

std::string slow_hint(const std::vector<sandbox::Hint>& hints) {
  const auto found = std::find_if(hints.begin(), hints.end(), [](const sandbox::Hint& hint) {
    return hint.kind == sandbox::HintKind::would_be_slow;
  });
  return found == hints.end() ? "" : found->text;
}

Label label_of(Outcome outcome, ErrorKind kind, Stage stage,
               const std::vector<sandbox::Hint>& hints) {
  if (outcome == Outcome::pass) return slow_hint(hints).empty() ? Label::pass : Label::slow;
  if (kind == ErrorKind::unsupported) return Label::needs_gpu;
  if (kind == ErrorKind::wrong_result || kind == ErrorKind::output_mismatch) return Label::wrong;
  const bool refused_by_a_compiler = kind == ErrorKind::compilation_error ||
                                     kind == ErrorKind::syntax_error ||
                                     kind == ErrorKind::indentation_error;
  if (refused_by_a_compiler || stage == Stage::compile) return Label::no_compile;
  return Label::error;
}

std::string printable_line(std::string_view text, std::size_t limit) {
  std::string line;
  std::size_t width = 0;
  std::size_t at = 0;
  while (at < text.size()) {
    const std::size_t length = utf8_length(text, at);
    const bool control =
        length == 0 ||
        (length == 1 && (static_cast<unsigned char>(text[at]) < 0x20 || text[at] == 0x7f));
    const std::string_view character = control ? std::string_view(" ") : text.substr(at, length);
    at += std::max<std::size_t>(length, 1);
    if (character == " " && (line.empty() || line.back() == ' ')) continue;
    if (width == limit) {
      while (!line.empty() && is_continuation(line.back())) line.pop_back();
      if (!line.empty()) line.pop_back();
      return line + "…";
    }
    line += character;
    ++width;
  }
  while (!line.empty() && line.back() == ' ') line.pop_back();
  return line;
}

std::size_t width_of(std::string_view text) {
  return static_cast<std::size_t>(std::count_if(
      text.begin(), text.end(), [](char character) { return !is_continuation(character); }));
}

}  // namespace assay::server
