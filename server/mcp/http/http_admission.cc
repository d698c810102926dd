#include "server/mcp/http/http_admission.h"

#include <strings.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <cmath>

#include "base/handle.h"
#include "server/mcp/http/http_challenge.h"
#include "server/mcp/http/http_cors.h"
#include "server/mcp/oauth/access_tokens.h"

namespace assay::mcp {
namespace {

constexpr std::string_view kScheme = "Bearer ";

/// Returns the token of "Authorization: Bearer TOKEN", or "" when there is no token.
std::string secret_of(const std::optional<std::string>& authorization) {
  if (!authorization || authorization->size() <= kScheme.size()) return "";
  if (::strncasecmp(authorization->c_str(), kScheme.data(), kScheme.size()) != 0) return "";
  return authorization->substr(
      std::min(authorization->find_first_not_of(' ', kScheme.size()), authorization->size()));
}

/// Writes the number as short as possible: 50, 0.5.
std::string shortest(double number) {
  std::array<char, 32> text{};
  return {text.data(), std::to_chars(text.data(), text.data() + text.size(), number).ptr};
}

/// Refuses a request that comes from a foreign page or is meant for another host.
Reply refuse_foreign(const std::string& why) {
  Reply reply = error_reply(403, kInvalidRequest, why);
  reply.refusal = Refusal::host;
  return reply;
}

}  // namespace

Admission::Decision Admission::decide(const HeaderLookup& header, const std::string& remote,
                                      Path path) {
  if (auto refusal = refuse_name(header)) return {std::move(refusal)};
  if (path == Path::open) return {};
  const std::string address_key = "address " + remote;
  if (!options_.tokens && !options_.oauth) return {limit(address_key, "address " + remote)};
  const std::string token = secret_of(header("Authorization"));
  // A request without a valid token counts against the rate limit of its address. So a client that
  // guesses tokens does not use up the rate limit of a valid token. A token about which an identity
  // provider must be asked counts before it is known to be valid, so that guesses do not become
  // requests to the provider.
  const bool asks = must_ask(token);
  if (asks) {
    if (auto refusal = limit_question(token, remote)) return {std::move(refusal)};
  }
  auto caller = caller_of(token);
  if (!caller) {
    if (asks) return {std::move(caller.error())};
    if (auto refusal = limit(address_key, "address " + remote)) return {std::move(refusal)};
    return {std::move(caller.error())};
  }
  const std::string& name = (*caller)->name;
  if (auto refusal = limit("token " + name, "token '" + name + "'"))
    return {std::move(refusal), std::move(*caller)};
  if ((*caller)->scopes.empty()) return {scope_reply(options_, **caller, "", nullptr)};
  return {std::nullopt, std::move(*caller)};
}

std::optional<Reply> Admission::limit_question(const std::string& token,
                                               const std::string& remote) {
  // A token that was valid has a bucket of its own. So other clients of its address, which may send
  // wrong tokens without end, cannot keep it from being accepted.
  if (options_.oauth->tokens.familiar(token))
    return limit("question " + sha256_hex(token), "this token");
  return limit("questions of " + remote, "unknown tokens of address " + remote);
}

bool Admission::must_ask(const std::string& token) const {
  return !token.empty() && options_.oauth && options_.oauth->tokens.must_ask(token) &&
         !(options_.tokens && options_.tokens->find(token));
}

tl::expected<std::shared_ptr<const Caller>, Reply> Admission::caller_of(
    const std::string& token) const {
  const auto refuse = [this](const std::string& reason) {
    return tl::unexpected<Reply>(unauthorized_reply(options_, reason));
  };
  if (token.empty()) return refuse("");
  if (auto caller = options_.tokens ? options_.tokens->find(token) : nullptr) {
    if (caller->expires_unix_ms != 0 && clock_.unix_ms() >= caller->expires_unix_ms)
      return refuse("the token has expired");
    return caller;
  }
  if (!options_.oauth ||
      (token.find('.') == std::string::npos && !options_.oauth->tokens.knows_opaque_tokens()))
    return refuse("unknown token");
  auto verified = options_.oauth->tokens.verify(token);
  if (verified) return std::move(*verified);
  // The token may be valid, so the client must not throw it away.
  if (verified.error().code == ErrorCode::unavailable)
    return tl::unexpected<Reply>(busy_reply(verified.error().message));
  return refuse(verified.error().message);
}

std::optional<Reply> Admission::refuse_name(const HeaderLookup& header) const {
  const auto host = header("Host");
  if (!host) return error_reply(400, kInvalidRequest, "the Host header is missing", true);
  if (!known_host(*host))
    return refuse_foreign("that Host is not a name of this server; --allow-host adds names");
  const auto origin = header("Origin");
  if (!origin) return std::nullopt;
  const std::size_t scheme = origin->find("://");
  if (origin_allowed(*origin, options_.host) || origin_is_listed(options_, *origin) ||
      (scheme != std::string::npos && known_host(origin->substr(scheme + 3))))
    return std::nullopt;
  return refuse_foreign("requests from that Origin are not allowed; --allow-origin adds origins");
}

bool Admission::known_host(const std::string& host) const {
  if (host_allowed(host, options_.host)) return true;
  return std::any_of(options_.allowed_hosts.begin(), options_.allowed_hosts.end(),
                     [&host](const std::string& name) { return host_is(host, name); });
}

std::optional<Reply> Admission::limit(const std::string& key, const std::string& whose) {
  const std::chrono::milliseconds wait = limiter_.take(key);
  if (wait.count() == 0) return std::nullopt;
  const auto whole_seconds =
      static_cast<std::int64_t>(std::ceil(static_cast<double>(wait.count()) / 1000));
  const nlohmann::json error = make_error(nullptr, kInternalError,
                                          "rate limit: " + shortest(limiter_.limit().per_second) +
                                              " requests a second for " + whose + "; retry in " +
                                              std::to_string(wait.count()) + " ms",
                                          {{"retryAfterMs", wait.count()}});
  Reply reply{.status = 429, .body = dump(error)};
  reply.headers.emplace_back("Retry-After", std::to_string(whole_seconds));
  return reply;
}

}  // namespace assay::mcp
