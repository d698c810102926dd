#include "server/edge/introspection_settings.h"

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <utility>

#include "base/base64.h"
#include "base/text.h"
#include "server/app/files.h"
#include "server/mcp/client/http_client.h"
#include "server/mcp/oauth/discovery.h"

namespace assay::server {
namespace {

constexpr std::int64_t kMostCacheS = 3'600;
constexpr std::int64_t kMostTimeoutMs = 60'000;
constexpr std::int64_t kMaxSecretBytes = 4 << 10;
constexpr std::int64_t kMaxAnswerBytes = 16 << 10;

/// Encodes a text as application/x-www-form-urlencoded. RFC 6749 (section 2.3.1) asks for it also
/// within the header Authorization.
std::string form_encode(std::string_view text) {
  constexpr std::string_view kHex = "0123456789ABCDEF";
  std::string out;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x80 &&
        (std::isalnum(byte) != 0 || std::string_view("-._~").find(c) != std::string_view::npos)) {
      out += c;
    } else {
      out += '%';
      out += kHex[byte >> 4U];
      out += kHex[byte & 0xFU];
    }
  }
  return out;
}

Result<std::string> read_secret(const std::string& path) {
  ASSAY_TRY(text, read_private_file(path, kMaxSecretBytes, "secret file"));
  std::string secret = std::move(text);
  while (!secret.empty() && (secret.back() == '\n' || secret.back() == '\r')) secret.pop_back();
  if (secret.empty()) return fail(ErrorCode::corrupt, "the secret file " + path + " is empty");
  return secret;
}

Result<mcp::Introspection::Answer> ask_issuer(const IntrospectionFlags& flags,
                                              const std::string& token) {
  const Result<std::string> secret = read_secret(flags.secret_file);
  // The secret is needed for every token, so it is as if the issuer did not answer.
  if (!secret) return fail(ErrorCode::unavailable, secret.error().message);
  mcp::HttpExchange exchange;
  exchange.headers = {{"Accept", "application/json"},
                      {"Authorization", "Basic " + base64_encode(form_encode(flags.client_id) +
                                                                 ":" + form_encode(*secret))}};
  exchange.content_type = "application/x-www-form-urlencoded";
  exchange.body = "token=" + form_encode(token) + "&token_type_hint=access_token";
  exchange.timeout_ms = flags.timeout_ms;
  exchange.max_response_bytes = kMaxAnswerBytes;
  ASSAY_TRY(response, mcp::http_exchange(flags.url, exchange));
  return mcp::Introspection::Answer{response.status, std::move(response.body)};
}

}  // namespace

void add_introspection_flags(CLI::App& command, IntrospectionFlags& flags, CLI::Option& needed) {
  auto* url = command.add_option("--oauth-introspection-url", flags.url,
                                 "the URL at which the issuer is asked about opaque tokens (RFC "
                                 "7662); without it, tokens must "
                                 "be JWTs");
  url->needs(&needed);
  const auto with_url = [&](const char* name, auto& value, const char* help) {
    return command.add_option(name, value, help)->needs(url);
  };
  url->needs(with_url("--oauth-introspection-client", flags.client_id,
                      "the client id with which the server asks the issuer"));
  url->needs(with_url("--oauth-introspection-secret", flags.secret_file,
                      "file with the secret of this client, which only its owner can read"));
  with_url("--oauth-introspection-issuer", flags.issuer,
           "the --oauth-issuer that is asked; needed if there are several");
  with_url("--oauth-introspection-cache-s", flags.cache_s,
           "the time in seconds for which an answer is used again; 0: ask for each request")
      ->check(CLI::Range(std::int64_t{0}, kMostCacheS))
      ->capture_default_str();
  with_url("--oauth-introspection-timeout-ms", flags.timeout_ms,
           "the time in milliseconds for an answer of the issuer")
      ->check(CLI::Range(std::int64_t{1}, kMostTimeoutMs))
      ->capture_default_str();
}

std::string introspected_issuer(const IntrospectionFlags& flags,
                                const std::vector<std::string>& issuers) {
  if (flags.url.empty()) return "";
  return flags.issuer.empty() && issuers.size() == 1 ? issuers.front() : flags.issuer;
}

Result<std::shared_ptr<mcp::Introspection>> introspection_settings(
    const IntrospectionFlags& flags, const std::vector<std::string>& issuers) {
  if (flags.url.empty()) return std::shared_ptr<mcp::Introspection>();
  ASSAY_RETURN_IF_ERROR(mcp::check_url(flags.url, "--oauth-introspection-url", true));
  const std::string issuer = introspected_issuer(flags, issuers);
  if (std::find(issuers.begin(), issuers.end(), issuer) == issuers.end())
    return fail(ErrorCode::invalid_argument,
                "--oauth-introspection-issuer '" + issuer +
                    "' must be an --oauth-issuer; valid: " + join(issuers));
  if (flags.client_id.empty() || flags.secret_file.empty())
    return fail(ErrorCode::invalid_argument,
                "--oauth-introspection-url needs --oauth-introspection-client and "
                "--oauth-introspection-secret");
  IntrospectionFlags own = flags;
  own.secret_file = std::filesystem::absolute(flags.secret_file).string();
  ASSAY_RETURN_IF_ERROR(read_secret(own.secret_file));
  mcp::IntrospectionLimits limits;
  limits.cache_ms = flags.cache_s * 1000;
  limits.wait_ms = std::max(limits.wait_ms, 2 * flags.timeout_ms);
  return std::make_shared<mcp::Introspection>(
      [own = std::move(own)](const std::string& token) { return ask_issuer(own, token); }, limits);
}

}  // namespace assay::server
