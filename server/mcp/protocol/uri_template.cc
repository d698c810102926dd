#include "server/mcp/protocol/uri_template.h"

#include <algorithm>

namespace assay::mcp {
namespace {

constexpr std::string_view kNameCharacters =
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_";
constexpr std::string_view kUnreserved =
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~";

bool may_be_in_value(char c) { return c == '%' || kUnreserved.find(c) != std::string_view::npos; }

int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

std::optional<std::string> percent_decode(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      out += text[i];
      continue;
    }
    if (i + 2 >= text.size()) return std::nullopt;
    const int high = hex_digit(text[i + 1]), low = hex_digit(text[i + 2]);
    if (high < 0 || low < 0) return std::nullopt;
    out += static_cast<char>(high * 16 + low);
    i += 2;
  }
  return out;
}

}  // namespace

Result<UriTemplate> UriTemplate::parse(const std::string& text) {
  const auto refuse = [&](const std::string& why) {
    return fail(ErrorCode::invalid_argument, "URI template '" + text + "': " + why);
  };
  UriTemplate out;
  out.text_ = text;
  std::string literal;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '}') return refuse("'}' without '{'");
    if (text[i] != '{') {
      literal += text[i];
      continue;
    }
    const std::size_t close = text.find('}', i);
    if (close == std::string::npos) return refuse("'{' without '}'");
    const std::string name = text.substr(i + 1, close - i - 1);
    if (name.empty() || name.find_first_not_of(kNameCharacters) != std::string::npos)
      return refuse("a variable's name has characters of a-z A-Z 0-9 _ (level 1 only)");
    if (std::find(out.variables_.begin(), out.variables_.end(), name) != out.variables_.end())
      return refuse("'{" + name + "}' occurs twice");
    if (!out.variables_.empty() && (literal.empty() || may_be_in_value(literal[0])))
      return refuse("the text after a variable must begin with a reserved character, such as '/'");
    out.literals_.push_back(std::move(literal));
    out.variables_.push_back(name);
    literal.clear();
    i = close;
  }
  if (out.variables_.empty()) return refuse("there is no {variable}; register a resource instead");
  if (!literal.empty() && may_be_in_value(literal[0]))
    return refuse("the text after a variable must begin with a reserved character, such as '/'");
  out.literals_.push_back(std::move(literal));
  return out;
}

std::optional<Variables> UriTemplate::match(std::string_view uri) const {
  Variables values;
  for (std::size_t i = 0; i < variables_.size(); ++i) {
    const std::string& before = literals_[i];
    if (uri.substr(0, before.size()) != before) return std::nullopt;
    uri.remove_prefix(before.size());
    const std::size_t size = static_cast<std::size_t>(
        std::find_if_not(uri.begin(), uri.end(), may_be_in_value) - uri.begin());
    const auto value = percent_decode(uri.substr(0, size));
    if (size == 0 || !value) return std::nullopt;
    values[variables_[i]] = *value;
    uri.remove_prefix(size);
  }
  return uri == literals_.back() ? std::optional(std::move(values)) : std::nullopt;
}

}  // namespace assay::mcp
