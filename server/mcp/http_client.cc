#include "server/mcp/http_client.h"

// CPPHTTPLIB_OPENSSL_SUPPORT comes from CMake: as in http_server.cc: the library's classes differ without it
#include <httplib.h>

#include <algorithm>
#include <cctype>
#include <chrono>
#include <cstdint>
#include <exception>

namespace assay::mcp {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::int64_t kConnectTimeoutMs = 10'000;

struct Url {
  std::string origin;  // scheme://host:port
  std::string path;
};

Result<Url> split(const std::string& url) {
  const bool https = url.rfind("https://", 0) == 0;
  if (!https && url.rfind("http://", 0) != 0) return fail(ErrorCode::invalid_argument, "the URL '" + url + "' must begin with http:// or https://");
  const std::size_t host = https ? 8 : 7;
  const std::size_t slash = std::min(url.find_first_of("/?#", host), url.size());
  if (slash == host) return fail(ErrorCode::invalid_argument, "the URL '" + url + "' has no host");
  const std::string rest = url.substr(slash, url.find('#', slash) - slash);
  return Url{url.substr(0, slash), rest.empty() || rest[0] != '/' ? "/" + rest : rest};
}

std::string lower(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return text;
}

void set_timeouts(httplib::Client& client, std::int64_t timeout_ms) {
  const auto seconds = static_cast<time_t>(timeout_ms / 1000);
  const auto microseconds = static_cast<time_t>(timeout_ms % 1000 * 1000);
  const std::int64_t connect_ms = std::min(timeout_ms, kConnectTimeoutMs);
  client.set_connection_timeout(static_cast<time_t>(connect_ms / 1000), static_cast<time_t>(connect_ms % 1000 * 1000));
  client.set_read_timeout(seconds, microseconds);
  client.set_write_timeout(seconds, microseconds);
}

Result<HttpResponse> post(const Url& url, const std::map<std::string, std::string>& headers, const std::string& body, const std::string& content_type,
                          std::int64_t timeout_ms, std::int64_t max_response_bytes) {
  httplib::Client client(url.origin);
  if (!client.is_valid()) return fail(ErrorCode::invalid_argument, "'" + url.origin + "' is no usable address");
  set_timeouts(client, timeout_ms);
  client.enable_server_certificate_verification(true);
  client.set_tcp_nodelay(true);

  HttpResponse out;
  bool too_large = false;
  bool too_late = false;
  const auto deadline = Clock::now() + std::chrono::milliseconds(timeout_ms);
  httplib::Request request;
  request.method = "POST";
  request.path = url.path;
  request.body = body;
  for (const auto& [name, value] : headers) request.set_header(name, value);
  request.set_header("Content-Type", content_type);
  request.content_receiver = [&](const char* data, std::size_t size, std::uint64_t, std::uint64_t) {
    too_large = static_cast<std::int64_t>(out.body.size() + size) > max_response_bytes;
    too_late = Clock::now() > deadline;  // the read time-out alone would let a server drip for ever
    if (too_large || too_late) return false;
    out.body.append(data, size);
    return true;
  };
  const httplib::Result result = client.send(request);
  if (too_large) return fail(ErrorCode::resource_exhausted, "the answer of " + url.origin + " is larger than " + std::to_string(max_response_bytes) + " bytes");
  if (too_late || (!result && Clock::now() >= deadline))
    return fail(ErrorCode::unavailable, url.origin + " did not answer within " + std::to_string(timeout_ms) + " ms");
  if (!result) return fail(ErrorCode::unavailable, "POST " + url.origin + url.path + " failed: " + httplib::to_string(result.error()));
  out.status = result->status;
  for (const auto& [name, value] : result->headers) out.headers.emplace(lower(name), value);
  return out;
}

}  // namespace

Result<HttpResponse> http_post(const std::string& url, const std::map<std::string, std::string>& headers, const std::string& body,
                               const std::string& content_type, std::int64_t timeout_ms, std::int64_t max_response_bytes) {
  for (const auto& [name, value] : headers) {
    if (name.empty() || (name + value).find_first_of("\r\n") != std::string::npos)
      return fail(ErrorCode::invalid_argument, "the header '" + name + "' has a line break or no name");
  }
  const auto parts = split(url);
  if (!parts) return fail(parts.error());
  try {
    return post(*parts, headers, body, content_type, timeout_ms, max_response_bytes);
  } catch (const std::exception& error) {
    return fail(ErrorCode::unavailable, "POST " + url + " failed: " + error.what());
  }
}

}  // namespace assay::mcp
