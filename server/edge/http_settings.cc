#include "server/edge/http_settings.h"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <memory>

#include "base/log.h"
#include "base/stderr_line.h"
#include "server/app/exit_status.h"
#include "server/app/files.h"
#include "server/edge/limits_file.h"
#include "server/mcp/http/http_cors.h"
#include "server/mcp/oauth/discovery.h"
#include "tools/model/services.h"

namespace assay::server {
namespace {

constexpr int kMaxPort = 65535;
// The default rate limit: requests per second for each token. An agent needs fewer than 10.
constexpr double kDefaultRate = 50;
constexpr std::int64_t kMaxTokenFileBytes = 1 << 20;
constexpr std::int64_t kMaxLimitsFileBytes = 64 << 10;

tl::unexpected<Error> malformed(const std::string& text) {
  return fail(ErrorCode::invalid_argument,
              "'" + text +
                  "' is not HOST:PORT, e.g. 127.0.0.1:8080 (ports 0 to 65535; 0 picks a free one)");
}

int refuse(int status, const std::string& message) { return print_error("serve", status, message); }

/// Returns the exit status of a server that cannot start because of this error.
int status_of(ErrorCode code) {
  switch (code) {
    case ErrorCode::invalid_argument: return kUsage;
    case ErrorCode::not_found: return kNoInput;
    case ErrorCode::permission_denied: return kUnsafe;
    default: return kBadConfig;
  }
}

Result<mcp::Tokens> read_tokens(const std::string& path) {
  ASSAY_TRY(text, read_private_file(path, kMaxTokenFileBytes, "token file"));
  Result<mcp::Tokens> tokens = mcp::Tokens::parse(text, token_scopes());
  if (!tokens)
    return fail(ErrorCode::corrupt, "the token file " + path + ": " + tokens.error().message);
  return tokens;
}

bool set_tokens(const HttpFlags& flags, HttpSettings& settings, int& status) {
  if (flags.token_file.empty()) return true;
  auto tokens = read_tokens(flags.token_file);
  if (!tokens) {
    status = refuse(status_of(tokens.error().code), tokens.error().message);
    return false;
  }
  settings.files.token_file = flags.token_file;
  settings.files.tokens = std::make_shared<mcp::Tokens>(std::move(*tokens));
  settings.options.tokens = settings.files.tokens;
  return true;
}

bool set_tls(const HttpFlags& flags, HttpSettings& settings, int& status) {
  if (flags.tls_certificate.empty()) return true;
  auto tls = mcp::TlsContext::load(flags.tls_certificate, flags.tls_key);
  if (!tls) {
    status = refuse(tls.error().code == ErrorCode::not_found ? kNoInput : kBadConfig,
                    tls.error().message);
    return false;
  }
  settings.files.tls_certificate = flags.tls_certificate;
  settings.files.tls = std::move(*tls);
  settings.options.tls = settings.files.tls;
  return true;
}

/// Returns the options with the limits of the file. The options begin with those of the command
/// line, so a limit that was removed from the file has its first value again.
Result<mcp::HttpOptions> read_limits(const std::string& path, const mcp::HttpOptions& started) {
  ASSAY_TRY(text, read_file_bytes(path, kMaxLimitsFileBytes, "a file of limits"));
  Result<mcp::HttpOptions> options = with_limits(text, started);
  if (!options) return fail(ErrorCode::corrupt, path + ": " + options.error().message);
  return options;
}

bool set_limits(const HttpFlags& flags, HttpSettings& settings, int& status) {
  if (flags.limits_file.empty()) return true;
  settings.files.limits_file = flags.limits_file;
  settings.files.started = settings.options;
  const auto options = read_limits(flags.limits_file, settings.options);
  if (!options) {
    status = refuse(status_of(options.error().code), options.error().message);
    return false;
  }
  settings.options = *options;
  settings.options.threads = std::max(settings.options.threads, threads_for(*options));
  settings.files.started.threads = settings.options.threads;
  settings.files.limits = std::make_shared<mcp::LiveLimits>(mcp::changeable_limits(*options));
  settings.options.live_limits = settings.files.limits;
  return true;
}

/// Reads the limits again. Error: the file cannot be used, or the server has too few threads for
/// the limits.
Status replace_limits(const HttpFiles& files) {
  ASSAY_TRY(options, read_limits(files.limits_file, files.started));
  if (const int threads = threads_for(options); threads > files.started.threads)
    return fail(ErrorCode::invalid_argument,
                files.limits_file + ": max_calls, max_listeners and max_uploads need " +
                    std::to_string(threads) + " threads, and the server started with " +
                    std::to_string(files.started.threads) + "; restart it");
  files.limits->replace(mcp::changeable_limits(options));
  return {};
}

/// Returns the URL of the endpoint, or "" if other machines can connect, or if the port is not
/// known yet.
std::string own_url(const Address& address, bool tls) {
  if (!address.loopback || address.port == 0) return "";
  const bool v6 = address.host.find(':') != std::string::npos;
  return (tls ? "https://" : "http://") + (v6 ? "[" + address.host + "]" : address.host) + ":" +
         std::to_string(address.port) + "/mcp";
}

bool set_oauth(const HttpFlags& flags, const Address& address, HttpSettings& settings,
               int& status) {
  mcp::HttpOptions& options = settings.options;
  const auto problem = [&]() -> Status {
    for (const std::string& origin : flags.allowed_origins)
      ASSAY_RETURN_IF_ERROR(mcp::check_origin(origin));
    options.allowed_origins = flags.allowed_origins;
    if (!flags.oauth.public_url.empty()) {
      ASSAY_RETURN_IF_ERROR(mcp::check_url(flags.oauth.public_url, "--public-url"));
      options.allowed_hosts.push_back(mcp::host_of(flags.oauth.public_url));
    }
    ASSAY_TRY(oauth, oauth_settings(flags.oauth, own_url(address, options.tls != nullptr)));
    settings.files.oauth = options.oauth = oauth;
    return {};
  }();
  if (problem) return true;
  status = refuse(status_of(problem.error().code), problem.error().message);
  return false;
}

}  // namespace

Result<Address> parse_address(const std::string& text) {
  const std::size_t colon = text.rfind(':');
  if (colon == std::string::npos || colon == 0) return malformed(text);
  Address address;
  address.host = text.substr(0, colon);
  const char* begin = text.data() + colon + 1;
  const char* end = text.data() + text.size();
  const auto [stopped, error] = std::from_chars(begin, end, address.port);
  if (error != std::errc() || stopped != end || begin == end || address.port < 0 ||
      address.port > kMaxPort)
    return malformed(text);
  if (address.host.front() == '[' && address.host.back() == ']')
    address.host = address.host.substr(1, address.host.size() - 2);
  address.loopback =
      address.host == "localhost" || address.host == "::1" || address.host.rfind("127.", 0) == 0;
  return address;
}

const std::vector<std::string>& token_scopes() {
  static const std::vector<std::string> scopes = {tools::kScopePractice, tools::kScopeScore};
  return scopes;
}

void add_http_flags(CLI::App& command, HttpFlags& flags) {
  auto* address =
      command.add_option("--http", flags.address,
                         "listen on HOST:PORT (port 0 picks a free one), endpoint /mcp; "
                         "an address that is not loopback needs --token-file or --oauth-issuer");
  const auto with_http = [&](const char* name, auto& value, const char* help) {
    return command.add_option(name, value, help)->needs(address);
  };
  with_http("--token-file", flags.token_file,
            "the tokens that clients may use, one on each line as `assay token new` prints it");
  auto* certificate = with_http("--tls-cert", flags.tls_certificate,
                                "PEM file of the certificate; makes the server speak HTTPS");
  certificate->needs(
      with_http("--tls-key", flags.tls_key, "PEM file of the certificate's key, not encrypted")
          ->needs(certificate));
  with_http("--allow-host", flags.allowed_hosts,
            "another host name that clients use, for instance that of a reverse proxy; may be "
            "repeated");
  with_http("--allow-origin", flags.allowed_origins,
            "an origin whose web pages may use the server, e.g. https://chat.example.org; may be "
            "repeated");
  add_oauth_flags(command, flags.oauth, *address);
  with_http("--limits-file", flags.limits_file,
            "TOML file with limits that SIGHUP changes: rate_limit, max_calls, principal_calls, "
            "max_listeners, principal_listeners, max_uploads, principal_uploads");
  with_http("--rate-limit", flags.rate_limit,
            "requests a second for each token, or for each address if there are no tokens; 0: no "
            "limit (default: 50 if clients need tokens, else no limit)")
      ->check(CLI::NonNegativeNumber);
}

void HttpFiles::reload() const {
  if (tokens) {
    auto newer = read_tokens(token_file);
    if (newer) {
      tokens->replace(std::move(*newer));
      log::info("the tokens were read again", {{"tokens", tokens->size()}});
    } else {
      log::error("the old tokens stay in use", {{"error", newer.error().message}});
    }
  }
  if (tls) {
    if (const Status read = tls->reload())
      log::info("the certificate was read again", {{"file", tls_certificate}});
    else
      log::error("the old certificate stays in use", {{"error", read.error().message}});
  }
  if (oauth) {
    const std::vector<Error> errors = oauth->tokens.reload();
    for (const Error& error : errors)
      log::error("the old keys of an issuer stay in use", {{"error", error.message}});
    if (errors.empty()) log::info("the keys of the issuers are read again");
  }
  if (limits) {
    if (const Status read = replace_limits(*this))
      log::info("the limits were read again", {{"file", limits_file}});
    else
      log::error("the old limits stay in use", {{"error", read.error().message}});
  }
  if (!tokens && !tls && !oauth && !limits)
    log::warning(
        "SIGHUP only opens the logs again: no token file, no certificate, no issuer and no file of "
        "limits");
}

std::optional<HttpSettings> http_settings(const HttpFlags& flags, int& status) {
  const Result<Address> address = parse_address(flags.address);
  if (!address) {
    status = refuse(kUsage, address.error().message);
    return std::nullopt;
  }
  const bool needs_token = !flags.token_file.empty() || !flags.oauth.issuers.empty();
  if (!address->loopback && !needs_token) {
    status =
        refuse(kUnsafe, "'" + address->host +
                            "' can be reached from other machines, and without --token-file every "
                            "client may run code here; make a token with `assay token new`, name "
                            "an identity provider with --oauth-issuer, or serve 127.0.0.1");
    return std::nullopt;
  }
  HttpSettings settings;
  mcp::HttpOptions& options = settings.options;
  options.host = address->host;
  options.port = address->port;
  options.allowed_hosts = flags.allowed_hosts;
  const double rate = flags.rate_limit >= 0 ? flags.rate_limit : needs_token ? kDefaultRate : 0;
  options.rate_limit = rate_limit_of(rate);
  if (!set_limits(flags, settings, status) || !set_tokens(flags, settings, status) ||
      !set_tls(flags, settings, status) || !set_oauth(flags, *address, settings, status))
    return std::nullopt;
  if (!address->loopback && !options.tls) {
    stderr_line(
        "assay serve: warning: tokens and sources cross the network unencrypted; use --tls-cert "
        "and --tls-key, or a reverse proxy that adds TLS");
  }
  return settings;
}

}  // namespace assay::server
