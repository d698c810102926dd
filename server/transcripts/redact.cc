#include "server/transcripts/redact.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <utility>

namespace assay::transcripts {
namespace {

/// The beginning of a key of a service, and the least number of letters after it.
struct Shape {
  std::string_view prefix;
  std::size_t least;
};
// tests/common/secrets.json has examples; importers/dataset/redaction.py knows the same forms.
constexpr std::array kShapes = {
    Shape{"sk-", 16},      Shape{"rk-", 16},      Shape{"pk-", 16},      Shape{"gsk_", 30},
    Shape{"sk_live_", 16}, Shape{"sk_test_", 16}, Shape{"rk_live_", 16}, Shape{"rk_test_", 16},
    Shape{"AIza", 30},     Shape{"AKIA", 16},     Shape{"ASIA", 16},     Shape{"ghp_", 30},
    Shape{"gho_", 30},     Shape{"ghu_", 30},     Shape{"ghs_", 30},     Shape{"ghr_", 30},
    Shape{"hf_", 20},      Shape{"npm_", 30},     Shape{"pypi-", 40},    Shape{"github_pat_", 22},
    Shape{"xoxa-", 10},    Shape{"xoxb-", 10},    Shape{"xoxp-", 10},    Shape{"xoxs-", 10},
    Shape{"glpat-", 16},   Shape{"assay_", 26},
};
constexpr std::string_view kKeyWithUnderscores = "github_pat_";
constexpr std::string_view kTokenBegin = "eyJ";  // a JSON web token has three parts
constexpr std::size_t kLeastTokenPart = 8, kTokenParts = 3;
constexpr std::array<std::string_view, 2> kBearer = {"Bearer ", "bearer "};
constexpr std::size_t kLeastBearer = 16;
// The ends of names to which a secret is assigned, in capitals.
constexpr std::array<std::string_view, 7> kSecretNames = {
    "API_KEY", "APIKEY", "ACCESS_KEY", "ACCESSKEY", "SECRET", "PASSWORD", "PASSWD"};
constexpr std::string_view kTokenName = "TOKEN";  // only with a value in quotes
constexpr std::size_t kLeastQuoted = 8, kLeastUnquoted = 16;
constexpr std::size_t kMostUserInfo = 512;  // letters of `user:password` in a URL
constexpr std::string_view kKeyBegin = "-----BEGIN ";
constexpr std::string_view kKeyType = "PRIVATE KEY-----";
constexpr std::string_view kKeyEnd = "-----END ";

bool is_alnum(char letter) { return std::isalnum(static_cast<unsigned char>(letter)) != 0; }
bool is_digit(char letter) { return std::isdigit(static_cast<unsigned char>(letter)) != 0; }
bool is_word(char letter) { return is_alnum(letter) || letter == '_' || letter == '-'; }

/// Returns true if a word begins at `at`. A letter after a backslash is an escape of JSON.
bool word_begins(std::string_view text, std::size_t at) {
  if (at == 0 || !is_word(text[at - 1])) return true;
  return at > 1 && text[at - 2] == '\\';
}

/// Returns the number of letters from `at` on that `among` accepts.
template <class Among>
std::size_t run_of(std::string_view text, std::size_t at, Among among) {
  std::size_t end = at;
  while (end < text.size() && among(text[end])) ++end;
  return end - at;
}

bool has_digit(std::string_view text) { return std::any_of(text.begin(), text.end(), is_digit); }

/// Returns the length of the key that begins at `at`, or 0. A key has a digit, so that no ordinary
/// name is taken for one.
std::size_t key_at(std::string_view text, std::size_t at) {
  if (!word_begins(text, at)) return 0;
  for (const Shape& shape : kShapes) {
    if (!text.substr(at).starts_with(shape.prefix)) continue;
    const std::size_t begin = at + shape.prefix.size();
    // After most prefixes that end with `_`, a key has only letters and digits.
    const bool is_plain = shape.prefix.back() == '_' && shape.prefix != kKeyWithUnderscores;
    const std::size_t length = run_of(text, begin, is_plain ? is_alnum : is_word);
    if (length >= shape.least && has_digit(text.substr(begin, length)))
      return shape.prefix.size() + length;
  }
  return 0;
}

/// Returns the length of the JSON web token that begins at `at`, or 0.
std::size_t web_token_at(std::string_view text, std::size_t at) {
  if (!text.substr(at).starts_with(kTokenBegin) || !word_begins(text, at)) return 0;
  std::size_t end = at;
  for (std::size_t part = 0; part < kTokenParts; ++part) {
    const std::size_t length = run_of(text, end, is_word);
    if (length < kLeastTokenPart) return 0;
    end += length;
    if (part + 1 < kTokenParts && (end >= text.size() || text[end++] != '.')) return 0;
  }
  return end - at;
}

/// Returns the length of the bearer token that begins at `at`, or 0.
std::size_t bearer_at(std::string_view text, std::size_t at) {
  const bool follows = std::any_of(kBearer.begin(), kBearer.end(), [&](std::string_view word) {
    return at >= word.size() && text.substr(at - word.size(), word.size()) == word;
  });
  if (!follows) return 0;
  const std::size_t length = run_of(text, at, [](char letter) {
    return is_word(letter) || std::string_view("._~+/=").find(letter) != std::string_view::npos;
  });
  return length >= kLeastBearer ? length : 0;
}

/// Returns the length of `user:password` of a URL that begins at `at`, or 0.
std::size_t user_info_at(std::string_view text, std::size_t at) {
  if (at < 3 || text.substr(at - 3, 3) != "://") return 0;
  const std::string_view rest = text.substr(at, kMostUserInfo);
  const std::size_t length = run_of(rest, 0, [](char letter) {
    return letter != '/' && letter != '@' && letter != '"' && letter != '\'' &&
           std::isspace(static_cast<unsigned char>(letter)) == 0;
  });
  const bool ends = length < rest.size() && rest[length] == '@';
  return ends && rest.substr(0, length).find(':') != std::string_view::npos ? length : 0;
}

/// Returns the length of the value that begins at `at` and is assigned to a name of a secret, or 0.
std::size_t value_at(std::string_view text, std::size_t at) {
  std::size_t sign = at;
  const bool quoted = at > 0 && (text[at - 1] == '"' || text[at - 1] == '\'');
  if (quoted) --sign;
  while (sign > 0 && text[sign - 1] == ' ') --sign;
  if (sign == 0 || (text[sign - 1] != '=' && text[sign - 1] != ':')) return 0;
  if (!quoted && (sign != at || text[sign - 1] != '=')) return 0;
  std::size_t end = sign - 1;
  while (end > 0 && text[end - 1] == ' ') --end;
  if (end > 0 && (text[end - 1] == '"' || text[end - 1] == '\'')) --end;
  const auto names = [&](std::string_view name) {
    return end >= name.size() &&
           std::equal(name.begin(), name.end(), text.begin() + static_cast<long>(end - name.size()),
                      [](char capital, char letter) {
                        return capital == std::toupper(static_cast<unsigned char>(letter));
                      });
  };
  const bool named =
      std::any_of(kSecretNames.begin(), kSecretNames.end(), names) || (quoted && names(kTokenName));
  if (!named) return 0;
  const std::size_t length = run_of(text, at, [quoted](char letter) {
    if (quoted)
      return letter != '"' && letter != '\'' &&
             std::isspace(static_cast<unsigned char>(letter)) == 0;
    return is_word(letter) || letter == '/' || letter == '+' || letter == '.';
  });
  if (quoted) return length >= kLeastQuoted ? length : 0;
  return length >= kLeastUnquoted && has_digit(text.substr(at, length)) ? length : 0;
}

/// Returns the length of the private key in PEM that begins at `at`, or 0.
std::size_t pem_at(std::string_view text, std::size_t at) {
  if (text.substr(at, kKeyBegin.size()) != kKeyBegin) return 0;
  const std::size_t line = std::min(text.find('\n', at), text.size());
  if (text.substr(at, line - at).find(kKeyType) == std::string_view::npos) return 0;
  const std::size_t last = text.find(kKeyEnd, at);
  if (last == std::string_view::npos) return text.size() - at;
  return std::min(text.find('\n', last), text.size()) - at;
}

}  // namespace

Redactor::Redactor(std::vector<std::string> secrets) : secrets_(std::move(secrets)) {
  secrets_.erase(
      std::remove_if(secrets_.begin(), secrets_.end(),
                     [](const std::string& secret) { return secret.size() < kLeastSecretBytes; }),
      secrets_.end());
  std::sort(secrets_.begin(), secrets_.end(),
            [](const auto& one, const auto& other) { return one.size() > other.size(); });
}

Redactor Redactor::of_environment() {
  std::vector<std::string> secrets;
  for (char** variable = environ; variable != nullptr && *variable != nullptr; ++variable) {
    const std::string_view text = *variable;
    const std::size_t middle = text.find('=');
    if (middle == std::string_view::npos) continue;
    const std::string_view name = text.substr(0, middle);
    for (const std::string_view end : {"KEY", "TOKEN", "SECRET", "PASSWORD"}) {
      if (name.ends_with(end)) secrets.emplace_back(text.substr(middle + 1));
    }
  }
  return Redactor(std::move(secrets));
}

std::string Redactor::redacted(std::string_view text) const {
  std::string kept;
  kept.reserve(text.size());
  for (std::size_t at = 0; at < text.size();) {
    std::size_t length = std::max({key_at(text, at), web_token_at(text, at), bearer_at(text, at),
                                   user_info_at(text, at), value_at(text, at), pem_at(text, at)});
    for (const std::string& secret : secrets_) {
      if (text.substr(at, secret.size()) == secret) length = std::max(length, secret.size());
    }
    if (length > 0)
      kept += kRedacted;
    else
      kept += text[at];
    at += std::max<std::size_t>(length, 1);
  }
  return kept;
}

}  // namespace assay::transcripts
