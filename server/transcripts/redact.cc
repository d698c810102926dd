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
constexpr std::array kShapes = {Shape{"sk-", 20},         Shape{"ghp_", 30},   Shape{"gho_", 30},
                                Shape{"github_pat_", 30}, Shape{"hf_", 30},    Shape{"xoxb-", 20},
                                Shape{"xoxp-", 20},       Shape{"AKIA", 16},   Shape{"AIza", 30},
                                Shape{"gsk_", 30},        Shape{"glpat-", 20}, Shape{"Bearer ", 16},
                                Shape{"bearer ", 16}};
constexpr std::string_view kKeyBegin = "-----BEGIN ";
constexpr std::string_view kKeyType = "PRIVATE KEY-----";
constexpr std::string_view kKeyEnd = "-----END ";

bool is_word(char letter) {
  return std::isalnum(static_cast<unsigned char>(letter)) != 0 || letter == '_' || letter == '-';
}

/// Returns the length of the key that begins at `at`, or 0. A key has a digit, so that no ordinary
/// name is taken for one.
std::size_t key_at(std::string_view text, std::size_t at) {
  if (at > 0 && is_word(text[at - 1])) return 0;
  for (const Shape& shape : kShapes) {
    if (text.substr(at, shape.prefix.size()) != shape.prefix) continue;
    std::size_t end = at + shape.prefix.size();
    bool has_digit = false;
    while (end < text.size() && (is_word(text[end]) || text[end] == '.')) {
      has_digit = has_digit || std::isdigit(static_cast<unsigned char>(text[end])) != 0;
      ++end;
    }
    if (has_digit && end - at - shape.prefix.size() >= shape.least) return end - at;
  }
  return 0;
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
    std::size_t length = std::max(key_at(text, at), pem_at(text, at));
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
