#include "sandbox/pool/ncu_words.h"

#include <algorithm>

namespace assay::sandbox {
namespace {

constexpr std::string_view kBetween = " | ";
constexpr std::string_view kCut = "...";

bool is_error(std::string_view line) {
  return line.starts_with("==ERROR==") || line.starts_with("assay-launcher:");
}
bool is_report(std::string_view line) { return line.starts_with('"'); }

void append_lines(std::string_view log, bool errors, std::string& words) {
  while (!log.empty() && words.size() <= kNcuWordsBytes) {
    const auto end = std::min(log.find('\n'), log.size());
    std::string_view line = log.substr(0, end);
    log.remove_prefix(std::min(end + 1, log.size()));
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (line.empty() || is_report(line) || is_error(line) != errors) continue;
    if (!words.empty()) words += kBetween;
    words += line;
  }
}

}  // namespace

std::string ncu_words(std::string_view log) {
  std::string words;
  append_lines(log, true, words);
  append_lines(log, false, words);
  if (words.size() > kNcuWordsBytes)
    words = words.substr(0, kNcuWordsBytes - kCut.size()).append(kCut);
  return words;
}

}  // namespace assay::sandbox
