#include "server/mcp/client/http_client.h"

// CMake defines CPPHTTPLIB_OPENSSL_SUPPORT for this file. The definition changes the layout of
// httplib's classes, so every file that includes httplib must have the same definition.
#include <httplib.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <exception>
#include <thread>

#include "base/mutex.h"
#include "base/text.h"

namespace assay::mcp {
namespace {

constexpr std::int64_t kConnectTimeoutMs = 10'000;
constexpr std::chrono::milliseconds kStopInterval{50};

struct Url {
  std::string origin;  // scheme://host:port
  std::string path;
};

Result<Url> parts_of(const std::string& url) {
  const bool https = url.rfind("https://", 0) == 0;
  if (!https && url.rfind("http://", 0) != 0)
    return fail(ErrorCode::invalid_argument,
                "the URL '" + url + "' must begin with http:// or https://");
  const std::size_t host = https ? 8 : 7;
  const std::size_t slash = std::min(url.find_first_of("/?#", host), url.size());
  if (slash == host) return fail(ErrorCode::invalid_argument, "the URL '" + url + "' has no host");
  const std::string rest = url.substr(slash, url.find('#', slash) - slash);
  return Url{url.substr(0, slash), rest.empty() || rest[0] != '/' ? "/" + rest : rest};
}

void set_timeouts(httplib::Client& client, std::int64_t timeout_ms) {
  const auto seconds = static_cast<time_t>(timeout_ms / 1000);
  const auto microseconds = static_cast<time_t>(timeout_ms % 1000 * 1000);
  const std::int64_t connect_ms = std::min(timeout_ms, kConnectTimeoutMs);
  client.set_connection_timeout(static_cast<time_t>(connect_ms / 1000),
                                static_cast<time_t>(connect_ms % 1000 * 1000));
  client.set_read_timeout(seconds, microseconds);
  client.set_write_timeout(seconds, microseconds);
}

/// Closes the client's connection when `stop` is requested.
class StopWatch {
 public:
  StopWatch(httplib::Client& client, const std::stop_token& stop) {
    if (!stop.stop_possible()) return;
    thread_ = std::thread([this, &client, stop] {
      MutexLock lock(mutex_);
      ended_.wait(lock, stop, [this]() ASSAY_REQUIRES(mutex_) { return over_; });
      // Calls stop() repeatedly, because httplib ignores a call of stop() while the client
      // connects.
      while (!over_) {
        client.stop();
        ended_.wait_for(lock, kStopInterval, [this]() ASSAY_REQUIRES(mutex_) { return over_; });
      }
    });
  }
  StopWatch(const StopWatch&) = delete;
  StopWatch& operator=(const StopWatch&) = delete;
  ~StopWatch() {
    if (!thread_.joinable()) return;
    {
      const MutexLock lock(mutex_);
      over_ = true;
    }
    ended_.notify_one();
    thread_.join();
  }

 private:
  Mutex mutex_;
  Condition ended_;
  bool over_ ASSAY_GUARDED_BY(mutex_) = false;
  std::thread thread_;
};

Result<HttpResponse> perform(const Url& url, const HttpExchange& exchange, const Clock& clock) {
  httplib::Client client(url.origin);
  if (!client.is_valid())
    return fail(ErrorCode::invalid_argument, "'" + url.origin + "' is no usable address");
  set_timeouts(client, exchange.timeout_ms);
  client.enable_server_certificate_verification(true);
  client.set_tcp_nodelay(true);

  HttpResponse out;
  bool too_large = false, too_late = false, unwanted = false;
  const std::int64_t until_ns = clock.monotonic_ns() + exchange.timeout_ms * kNsPerMs;
  httplib::Request request;
  request.method = exchange.method;
  request.path = url.path;
  request.body = exchange.body;
  for (const auto& [name, value] : exchange.headers) request.set_header(name, value);
  if (!exchange.content_type.empty()) request.set_header("Content-Type", exchange.content_type);
  request.content_receiver = [&](const char* data, std::size_t size, std::uint64_t, std::uint64_t) {
    too_large = static_cast<std::int64_t>(out.body.size() + size) > exchange.max_response_bytes;
    // This deadline limits the time for the whole response. httplib's own read timeout does not,
    // because it restarts with each part.
    too_late = clock.monotonic_ns() > until_ns;
    if (too_large || too_late) return false;
    out.body.append(data, size);
    unwanted = exchange.arrived && !exchange.arrived({data, size});
    return !unwanted;
  };
  const httplib::Result result = [&] {
    const StopWatch watch(client, exchange.stop);
    return client.send(request);
  }();
  if (exchange.stop.stop_requested() && !result)
    return fail(ErrorCode::cancelled, "the request to " + url.origin + " was cancelled");
  if (unwanted) return out;
  if (too_large)
    return fail(ErrorCode::resource_exhausted, "the answer of " + url.origin + " is larger than " +
                                                   std::to_string(exchange.max_response_bytes) +
                                                   " bytes");
  if (too_late || (!result && clock.monotonic_ns() >= until_ns))
    return fail(ErrorCode::unavailable, url.origin + " did not answer within " +
                                            std::to_string(exchange.timeout_ms) + " ms");
  if (!result)
    return fail(ErrorCode::unavailable, exchange.method + " " + url.origin + url.path +
                                            " failed: " + httplib::to_string(result.error()));
  out.status = result->status;
  for (const auto& [name, value] : result->headers) out.headers.emplace(lower_case(name), value);
  return out;
}

}  // namespace

Result<HttpResponse> http_post(const std::string& url,
                               const std::map<std::string, std::string>& headers,
                               const std::string& body, const std::string& content_type,
                               std::int64_t timeout_ms, std::int64_t max_response_bytes) {
  HttpExchange exchange;
  exchange.headers = headers;
  exchange.body = body;
  exchange.content_type = content_type;
  exchange.timeout_ms = timeout_ms;
  exchange.max_response_bytes = max_response_bytes;
  return http_exchange(url, exchange);
}

Result<HttpResponse> http_exchange(const std::string& url, const HttpExchange& exchange,
                                   const Clock& clock) {
  for (const auto& [name, value] : exchange.headers) {
    if (name.empty() || (name + value).find_first_of("\r\n") != std::string::npos)
      return fail(ErrorCode::invalid_argument,
                  "the header '" + name + "' has a line break or no name");
  }
  const auto parts = parts_of(url);
  if (!parts) return fail(parts.error());
  try {
    return perform(*parts, exchange, clock);
  } catch (const std::exception& error) {
    return fail(ErrorCode::unavailable, exchange.method + " " + url + " failed: " + error.what());
  }
}

}  // namespace assay::mcp
