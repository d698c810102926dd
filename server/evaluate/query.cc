#include "server/evaluate/query.h"

#include <algorithm>
#include <charconv>
#include <optional>

#include "base/text.h"

namespace assay::server {
namespace {

constexpr std::size_t kEscapeDigits = 2;
constexpr int kHexadecimal = 16;

/// Returns the text without its escapes (%2C, +), or nothing if an escape is malformed.
std::optional<std::string> unescaped(std::string_view text) {
  std::string plain;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '+') {
      plain += ' ';
      continue;
    }
    if (text[i] != '%') {
      plain += text[i];
      continue;
    }
    unsigned value = 0;
    if (i + kEscapeDigits >= text.size()) return std::nullopt;
    const char* const begin = text.data() + i + 1;
    const auto [end, problem] = std::from_chars(begin, begin + kEscapeDigits, value, kHexadecimal);
    if (problem != std::errc{} || end != begin + kEscapeDigits) return std::nullopt;
    plain += static_cast<char>(value);
    i += kEscapeDigits;
  }
  return plain;
}

}  // namespace

Result<std::map<std::string, std::string>> parse_query(std::string_view query,
                                                       const std::vector<std::string>& valid) {
  std::map<std::string, std::string> parameters;
  for (const std::string& part : split(query, "&")) {
    const std::size_t equals = std::min(part.find('='), part.size());
    const auto name = unescaped(std::string_view(part).substr(0, equals));
    const auto value = unescaped(std::string_view(part).substr(std::min(equals + 1, part.size())));
    if (!name || !value || !is_utf8(*name) || !is_utf8(*value))
      return fail(ErrorCode::invalid_argument, "the query has a malformed escape");
    if (std::find(valid.begin(), valid.end(), *name) == valid.end())
      return fail(
          ErrorCode::invalid_argument,
          "unknown parameter '" + cut_end(escape_text(*name), 60) + "'; valid: " + join(valid));
    std::string& all = parameters[*name];
    all += (all.empty() ? "" : ",") + *value;
  }
  return parameters;
}

}  // namespace assay::server
