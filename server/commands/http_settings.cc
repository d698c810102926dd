#include "server/commands/http_settings.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <cerrno>
#include <charconv>
#include <cstring>
#include <memory>

#include "base/log.h"
#include "base/stderr_line.h"
#include "base/unique_fd.h"
#include "server/app/exit_status.h"
#include "server/mcp/http/http_cors.h"
#include "server/mcp/oauth/discovery.h"
#include "tools/model/services.h"

namespace assay::server {
namespace {

constexpr int kMaxPort = 65535;
// The default rate limit: requests per second for each token. An agent needs fewer than 10.
constexpr double kDefaultRate = 50;
// The size of a burst, in seconds. After a pause, a client may send at once as many requests as the
// rate limit allows in this time.
constexpr double kBurstSeconds = 4;
constexpr off_t kMaxTokenFileBytes = 1 << 20;

tl::unexpected<Error> malformed(const std::string& text) {
  return fail(ErrorCode::invalid_argument,
              "'" + text +
                  "' is not HOST:PORT, e.g. 127.0.0.1:8080 (ports 0 to 65535; 0 picks a free one)");
}

int refuse(int status, const std::string& message) { return print_error("serve", status, message); }

/// The reason why a file cannot be used, and the exit status of a server that cannot start for this
/// reason.
struct Refusal {
  int status = kBadConfig;
  std::string message;
};

tl::unexpected<Refusal> refusal(int status, std::string message) {
  return tl::unexpected<Refusal>(Refusal{status, std::move(message)});
}

/// Returns the text of the token file. Refuses the file if other users can access it.
tl::expected<std::string, Refusal> read_token_file(const std::string& path) {
  const UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  struct stat info {};
  if (!fd || ::fstat(fd.get(), &info) != 0)
    return refusal(kNoInput, "the token file " + path + " cannot be read: " + std::strerror(errno));
  if (!S_ISREG(info.st_mode) || info.st_size > kMaxTokenFileBytes)
    return refusal(kBadConfig, "the token file " + path + " must be a regular file of at most " +
                                   std::to_string(kMaxTokenFileBytes) + " bytes");
  if ((info.st_mode & (S_IRWXG | S_IRWXO)) != 0)
    return refusal(kUnsafe,
                   "other users can access the token file " + path + "; type: chmod 600 " + path);
  std::string text(static_cast<std::size_t>(info.st_size), '\0');
  std::size_t done = 0;
  while (done < text.size()) {
    const ssize_t got = ::read(fd.get(), text.data() + done, text.size() - done);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) break;
    done += static_cast<std::size_t>(got);
  }
  text.resize(done);
  return text;
}

tl::expected<mcp::Tokens, Refusal> read_tokens(const std::string& path) {
  const auto text = read_token_file(path);
  if (!text) return tl::unexpected<Refusal>(text.error());
  Result<mcp::Tokens> tokens = mcp::Tokens::parse(*text, token_scopes());
  if (!tokens) return refusal(kBadConfig, "the token file " + path + ": " + tokens.error().message);
  return std::move(*tokens);
}

bool set_tokens(const HttpFlags& flags, HttpSettings& settings, int& status) {
  if (flags.token_file.empty()) return true;
  auto tokens = read_tokens(flags.token_file);
  if (!tokens) {
    status = refuse(tokens.error().status, tokens.error().message);
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
  const ErrorCode code = problem.error().code;
  status = refuse(code == ErrorCode::invalid_argument ? kUsage
                  : code == ErrorCode::not_found      ? kNoInput
                                                      : kBadConfig,
                  problem.error().message);
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
  if (!tokens && !tls && !oauth)
    log::warning("SIGHUP only opens the logs again: no token file, no certificate and no issuer");
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
  options.rate_limit = {rate, rate * kBurstSeconds};
  if (!set_tokens(flags, settings, status) || !set_tls(flags, settings, status) ||
      !set_oauth(flags, *address, settings, status))
    return std::nullopt;
  if (!address->loopback && !options.tls) {
    stderr_line(
        "assay serve: warning: tokens and sources cross the network unencrypted; use --tls-cert "
        "and --tls-key, or a reverse proxy that adds TLS");
  }
  return settings;
}

}  // namespace assay::server
