#include "server/commands/http_settings.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <cerrno>
#include <charconv>
#include <cstring>
#include <memory>

#include "base/stderr_line.h"
#include "base/unique_fd.h"
#include "server/app/exit_status.h"
#include "server/mcp/http/socket_io.h"
#include "server/mcp/http/tokens.h"
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

/// Reads the token file. If the file cannot be used, or if other users can access it, prints the
/// reason, sets `status` and returns nullopt.
std::optional<std::string> read_token_file(const std::string& path, int& status) {
  const UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  struct stat info {};
  if (!fd || ::fstat(fd.get(), &info) != 0) {
    status =
        refuse(kNoInput, "the token file " + path + " cannot be read: " + std::strerror(errno));
    return std::nullopt;
  }
  if (!S_ISREG(info.st_mode) || info.st_size > kMaxTokenFileBytes) {
    status = refuse(kBadConfig, "the token file " + path + " must be a regular file of at most " +
                                    std::to_string(kMaxTokenFileBytes) + " bytes");
    return std::nullopt;
  }
  if ((info.st_mode & (S_IRWXG | S_IRWXO)) != 0) {
    status = refuse(kUnsafe,
                    "other users can access the token file " + path + "; type: chmod 600 " + path);
    return std::nullopt;
  }
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

bool set_tokens(const HttpFlags& flags, mcp::HttpOptions& options, int& status) {
  if (flags.token_file.empty()) return true;
  const std::optional<std::string> text = read_token_file(flags.token_file, status);
  if (!text) return false;
  Result<mcp::Tokens> tokens = mcp::Tokens::parse(*text, token_scopes());
  if (!tokens) {
    status =
        refuse(kBadConfig, "the token file " + flags.token_file + ": " + tokens.error().message);
    return false;
  }
  options.tokens = std::make_shared<const mcp::Tokens>(std::move(*tokens));
  return true;
}

bool set_tls(const HttpFlags& flags, mcp::HttpOptions& options, int& status) {
  if (flags.tls_certificate.empty()) return true;
  auto tls = mcp::TlsContext::load(flags.tls_certificate, flags.tls_key);
  if (!tls) {
    status = refuse(tls.error().code == ErrorCode::not_found ? kNoInput : kBadConfig,
                    tls.error().message);
    return false;
  }
  options.tls = std::move(*tls);
  return true;
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
                         "an address that is not loopback needs --token-file");
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
  with_http("--rate-limit", flags.rate_limit,
            "requests a second for each token, or for each address if there are no tokens; 0: no "
            "limit (default: 50 with --token-file, else no limit)")
      ->check(CLI::NonNegativeNumber);
}

std::optional<mcp::HttpOptions> http_options(const HttpFlags& flags, int& status) {
  const Result<Address> address = parse_address(flags.address);
  if (!address) {
    status = refuse(kUsage, address.error().message);
    return std::nullopt;
  }
  if (!address->loopback && flags.token_file.empty()) {
    status =
        refuse(kUnsafe, "'" + address->host +
                            "' can be reached from other machines, and without --token-file every "
                            "client may run code here; make a token with `assay token new`, or "
                            "serve 127.0.0.1");
    return std::nullopt;
  }
  mcp::HttpOptions options;
  options.host = address->host;
  options.port = address->port;
  options.allowed_hosts = flags.allowed_hosts;
  const double rate = flags.rate_limit >= 0      ? flags.rate_limit
                      : flags.token_file.empty() ? 0
                                                 : kDefaultRate;
  options.rate_limit = {rate, rate * kBurstSeconds};
  if (!set_tokens(flags, options, status) || !set_tls(flags, options, status)) return std::nullopt;
  if (!address->loopback && !options.tls) {
    stderr_line(
        "assay serve: warning: tokens and sources cross the network unencrypted; use --tls-cert "
        "and --tls-key, or a reverse proxy that adds TLS");
  }
  return options;
}

}  // namespace assay::server
