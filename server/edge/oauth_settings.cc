#include "server/edge/oauth_settings.h"

#include <algorithm>
#include <filesystem>
#include <utility>

#include "base/log.h"
#include "base/text.h"
#include "server/app/files.h"
#include "server/edge/http_settings.h"
#include "server/mcp/client/http_client.h"
#include "server/mcp/oauth/discovery.h"

namespace assay::server {
namespace {

constexpr std::int64_t kFetchTimeoutMs = 5'000;
constexpr std::int64_t kMaxDocumentBytes = 1 << 20;  // of metadata, and of a set of keys
constexpr std::int64_t kMostLeewayS = 300;
constexpr std::int64_t kMostLifetimeS = 86'400;
// The keys of a file are read again only after SIGHUP.
constexpr std::int64_t kForeverMs = 1LL << 42;

bool is_url(const std::string& text) { return text.find("://") != std::string::npos; }

Result<std::string> fetch_document(const std::string& url) {
  mcp::HttpExchange exchange;
  exchange.method = "GET";
  exchange.headers = {{"Accept", "application/json"}};
  exchange.timeout_ms = kFetchTimeoutMs;
  exchange.max_response_bytes = kMaxDocumentBytes;
  ASSAY_TRY(response, mcp::http_exchange(url, exchange));
  if (response.status == 200) return std::move(response.body);
  return fail(ErrorCode::unavailable,
              "GET " + url + " was answered with status " + std::to_string(response.status));
}

mcp::IssuerKeys::Load loader_of(const std::string& issuer, const std::string& key_set) {
  if (key_set.empty()) return [issuer] { return mcp::discover_keys(issuer, fetch_document); };
  if (is_url(key_set))
    return [key_set]() -> Result<mcp::JwkSet> {
      ASSAY_TRY(text, fetch_document(key_set));
      return mcp::JwkSet::parse(text);
    };
  return [path = std::filesystem::absolute(key_set).string()]() -> Result<mcp::JwkSet> {
    ASSAY_TRY(text, read_file_bytes(path, kMaxDocumentBytes, "a set of keys"));
    Result<mcp::JwkSet> keys = mcp::JwkSet::parse(text);
    if (!keys) return fail(keys.error().code, path + ": " + keys.error().message);
    return keys;
  };
}

Result<std::vector<mcp::ScopeName>> scopes_from(const std::vector<std::string>& texts) {
  const std::vector<std::string>& ours = token_scopes();
  std::vector<mcp::ScopeName> scopes;
  for (const std::string& text : texts) {
    const std::size_t equals = text.rfind('=');
    const std::string theirs = text.substr(0, std::min(equals, text.size()));
    const std::string own = equals == std::string::npos ? text : text.substr(equals + 1);
    const bool fine = !theirs.empty() && std::all_of(theirs.begin(), theirs.end(), [](char c) {
      return c > ' ' && c < 0x7f && c != '"' && c != '\\';
    });
    if (!fine || std::find(ours.begin(), ours.end(), own) == ours.end())
      return fail(
          ErrorCode::invalid_argument,
          "--oauth-scope '" + text + "' is not THEIRS=OURS, where OURS is " + join(ours, " or "));
    scopes.push_back({theirs, own});
  }
  if (scopes.empty()) {
    for (const std::string& name : ours) scopes.push_back({name, name});
  }
  // A client begins with the scope that permits least.
  std::stable_sort(scopes.begin(), scopes.end(),
                   [&ours](const mcp::ScopeName& one, const mcp::ScopeName& other) {
                     return std::find(ours.begin(), ours.end(), one.ours) <
                            std::find(ours.begin(), ours.end(), other.ours);
                   });
  return scopes;
}

/// Clients normalise the URL and name the result as the resource, so tokens are issued for that
/// form.
Status check_public_url(const std::string& url) {
  ASSAY_RETURN_IF_ERROR(mcp::check_url(url, "--public-url"));
  const std::string origin = mcp::origin_of(url);
  const bool default_port = origin.ends_with(origin.rfind("https://", 0) == 0 ? ":443" : ":80");
  if (origin == lower_case(origin) && !default_port) return {};
  return fail(
      ErrorCode::invalid_argument,
      "--public-url '" + url + "' must have a host in lower case and no default port (:443, :80)");
}

Status check_flags(const OAuthFlags& flags) {
  if (!flags.public_url.empty()) ASSAY_RETURN_IF_ERROR(check_public_url(flags.public_url));
  for (const std::string& issuer : flags.issuers) {
    ASSAY_RETURN_IF_ERROR(mcp::check_url(issuer, "--oauth-issuer"));
    if (std::count(flags.issuers.begin(), flags.issuers.end(), issuer) > 1)
      return fail(ErrorCode::invalid_argument, "--oauth-issuer '" + issuer + "' is given twice");
  }
  if (!flags.key_sets.empty() && flags.key_sets.size() != flags.issuers.size())
    return fail(ErrorCode::invalid_argument,
                "give --oauth-jwks once for each --oauth-issuer, in the same order, or not at all");
  for (const std::string& key_set : flags.key_sets) {
    if (is_url(key_set)) ASSAY_RETURN_IF_ERROR(mcp::check_url(key_set, "--oauth-jwks", true));
  }
  return {};
}

}  // namespace

void add_oauth_flags(CLI::App& command, OAuthFlags& flags, CLI::Option& needed) {
  auto* issuer = command.add_option(
      "--oauth-issuer", flags.issuers,
      "accept access tokens of this identity provider, named as in the tokens' claim iss; may be "
      "repeated");
  issuer->needs(&needed);
  const auto with_issuer = [&](const char* name, auto& value, const char* help) {
    return command.add_option(name, value, help)->needs(issuer);
  };
  command
      .add_option("--public-url", flags.public_url,
                  "the URL of the endpoint as clients see it, e.g. https://assay.example.org/mcp; "
                  "needed with --oauth-issuer unless the server listens on a loopback address")
      ->needs(&needed);
  with_issuer("--oauth-jwks", flags.key_sets,
              "file or URL with the issuer's keys (JWKS); once for each --oauth-issuer (default: "
              "the jwks_uri of the issuer's metadata)");
  with_issuer("--oauth-audience", flags.audiences,
              "a value that a token's claim aud may contain; may be repeated (default: "
              "--public-url)");
  with_issuer("--oauth-scope", flags.scopes,
              "THEIRS=OURS: a scope of the issuer and the scope practice or score for which it "
              "stands; may be repeated (default: practice=practice and score=score)");
  command
      .add_flag("--oauth-require-at-jwt", flags.require_type,
                "refuse tokens whose header typ is not at+jwt (RFC 9068)")
      ->needs(issuer);
  with_issuer("--oauth-leeway-s", flags.leeway_s,
              "the difference in seconds that the issuer's clock may have")
      ->check(CLI::Range(std::int64_t{0}, kMostLeewayS))
      ->capture_default_str();
  add_introspection_flags(command, flags.introspection, *issuer);
  with_issuer("--oauth-keys-s", flags.keys_lifetime_s,
              "the age in seconds at which an issuer's keys are fetched again")
      ->check(CLI::Range(std::int64_t{1}, kMostLifetimeS))
      ->capture_default_str();
}

Result<std::shared_ptr<const mcp::OAuth>> oauth_settings(const OAuthFlags& flags,
                                                         const std::string& own_url) {
  if (flags.issuers.empty()) return std::shared_ptr<const mcp::OAuth>();
  ASSAY_RETURN_IF_ERROR(check_flags(flags));
  const std::string url = flags.public_url.empty() ? own_url : flags.public_url;
  if (url.empty())
    return fail(ErrorCode::invalid_argument,
                "--oauth-issuer needs --public-url, the URL of the endpoint as clients see it");
  ASSAY_TRY(scopes, scopes_from(flags.scopes));
  ASSAY_TRY(introspection, introspection_settings(flags.introspection, flags.issuers));
  const std::string introspected = introspected_issuer(flags.introspection, flags.issuers);
  std::vector<mcp::AccessTokens::Issuer> issuers;
  for (std::size_t i = 0; i < flags.issuers.size(); ++i) {
    const std::string key_set = flags.key_sets.empty() ? "" : flags.key_sets[i];
    const bool file = !key_set.empty() && !is_url(key_set);
    mcp::KeyLimits limits;
    limits.lifetime_ms = file ? kForeverMs : flags.keys_lifetime_s * 1000;
    if (file) limits.stale_ms = kForeverMs;
    const auto keys =
        std::make_shared<mcp::IssuerKeys>(loader_of(flags.issuers[i], key_set), limits);
    if (const Status read = keys->reload(); !read) {
      if (file) return fail(read.error());
      log::warning("the keys of an issuer of tokens cannot be read yet",
                   {{"issuer", flags.issuers[i]}, {"error", read.error().message}});
    }
    issuers.push_back(
        {flags.issuers[i], keys, file, flags.issuers[i] == introspected ? introspection : nullptr});
  }
  mcp::TokenRules rules{.audiences = flags.audiences,
                        .scopes = scopes,
                        .leeway_s = flags.leeway_s,
                        .require_type = flags.require_type};
  if (rules.audiences.empty()) {
    rules.audiences = {url};
    // A client that normalises such a URL adds the slash.
    if (url == mcp::origin_of(url)) rules.audiences.push_back(url + "/");
  }
  return std::make_shared<const mcp::OAuth>(
      mcp::OAuth{{.url = url, .issuers = flags.issuers, .scopes = scopes},
                 mcp::AccessTokens(std::move(issuers), std::move(rules))});
}

}  // namespace assay::server
