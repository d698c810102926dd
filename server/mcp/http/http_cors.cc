#include "server/mcp/http/http_cors.h"

#include <algorithm>
#include <array>

#include "base/text.h"

namespace assay::mcp {
namespace {

constexpr std::string_view kParamHeaders = "mcp-param-";
// The headers of requests that the server reads. Mcp-Param-* comes in addition.
constexpr std::array<std::string_view, 9> kRequestHeaders = {
    "accept",   "authorization",        "content-type",   "last-event-id", "mcp-method",
    "mcp-name", "mcp-protocol-version", "mcp-session-id", "traceparent"};
constexpr const char* kExposedHeaders =
    "Mcp-Session-Id, Mcp-Protocol-Version, WWW-Authenticate, Retry-After";
constexpr const char* kPreflightSeconds = "600";  // the time for which a browser keeps the answer

/// Returns those of the requested headers that a page may send.
std::string allowed_headers(const std::string& requested) {
  std::vector<std::string> allowed;
  for (const std::string& name : split(lower_case(requested), ", \t")) {
    const bool known =
        std::find(kRequestHeaders.begin(), kRequestHeaders.end(), name) != kRequestHeaders.end();
    if (known || name.rfind(kParamHeaders, 0) == 0) allowed.push_back(name);
  }
  return join(allowed);
}

}  // namespace

Status check_origin(std::string_view origin) {
  const std::size_t scheme = origin.find("://");
  const bool web = origin.rfind("https://", 0) == 0 || origin.rfind("http://", 0) == 0;
  const std::string_view host = web ? origin.substr(scheme + 3) : std::string_view();
  const bool fine = !host.empty() && std::all_of(host.begin(), host.end(), [](unsigned char c) {
    return std::isalnum(c) != 0 || c == '.' || c == '-' || c == ':' || c == '[' || c == ']';
  });
  if (fine) return {};
  return fail(ErrorCode::invalid_argument,
              "'" + std::string(origin) +
                  "' is no origin; valid: https://HOST or https://HOST:PORT, without a path");
}

bool origin_is_listed(const HttpOptions& options, std::string_view origin) {
  return std::any_of(
      options.allowed_origins.begin(), options.allowed_origins.end(),
      [&origin](const std::string& one) { return lower_case(one) == lower_case(origin); });
}

void add_cors_headers(const HeaderLookup& header, const HttpOptions& options,
                      ResponseWriter& response) {
  if (options.allowed_origins.empty()) return;
  // A cache must not give the answer for one origin to a page of another origin.
  response.add_header("Vary", "Origin");
  const auto origin = header("Origin");
  if (!origin || !origin_is_listed(options, *origin)) return;
  response.add_header("Access-Control-Allow-Origin", *origin);
  response.add_header("Access-Control-Expose-Headers", kExposedHeaders);
}

std::optional<Reply> preflight_reply(const HttpRequest& request, const HttpOptions& options) {
  const auto origin = request.header("Origin");
  if (request.method != "OPTIONS" || !origin || !origin_is_listed(options, *origin) ||
      !request.header("Access-Control-Request-Method"))
    return std::nullopt;
  Reply reply{.status = 204};
  reply.headers.emplace_back("Access-Control-Allow-Methods", "GET, POST, DELETE");
  const std::string headers =
      allowed_headers(request.header("Access-Control-Request-Headers").value_or(""));
  if (!headers.empty()) reply.headers.emplace_back("Access-Control-Allow-Headers", headers);
  reply.headers.emplace_back("Access-Control-Max-Age", kPreflightSeconds);
  return reply;
}

}  // namespace assay::mcp
