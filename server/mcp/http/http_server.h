// Serves an MCP server over Streamable HTTP, to clients of both protocol eras simultaneously.
//
//   std::stop_source stop;
//   const int status = serve_http(server, {.port = 8080}, stop.get_token());
//
// serve_http() returns when another thread calls stop.request_stop().
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <stop_token>
#include <string>
#include <vector>

#include "base/rate_limiter.h"
#include "server/mcp/http/http_record.h"

namespace assay::mcp {

class HttpApplication;
struct OAuth;
class HttpPages;
class LiveLimits;
class Server;
class MetricsText;
class Tokens;
class TlsContext;

/// Limits on sessions of the legacy, session-based era.
struct SessionLimits {
  /// The maximum number of sessions of all principals together, and of one principal. Without
  /// tokens, all clients are one principal, and only the first number applies. When a number is
  /// reached, a new session ends the session of the same principal that has not been used for the
  /// longest time. If the principal has none that is idle, it ends one of the principal that has
  /// most sessions. A session is not idle while it has a running request or an open stream. If no
  /// session can be ended, the server answers with HTTP status 503.
  std::size_t max_sessions = 2048, principal_sessions = 1024;
  std::int64_t idle_ms = 1'800'000;  // idle: no request and no open stream
  /// The maximum number of events that a session keeps for a client that reconnects.
  std::size_t max_events = 256;
  std::size_t max_event_bytes = 256 << 10;
};

/// The address and the limits of the HTTP server. docs/reference/limits.md describes what a client
/// sees when it exceeds a limit.
struct HttpOptions {
  std::string host = "127.0.0.1";
  int port = 0;                            // 0: any free port
  std::vector<std::string> allowed_hosts;  // further names that Host and Origin may contain
  /// Further origins whose web pages may use the server, such as https://chat.example.org. Only
  /// these get the headers that allow a browser to read the answers (CORS).
  std::vector<std::string> allowed_origins;
  std::shared_ptr<const Tokens> tokens;  // tokens.h; the tokens of the token file
  /// What is needed to accept the tokens of identity providers (access_tokens.h). If `tokens` is
  /// null too, every client may do everything.
  std::shared_ptr<const OAuth> oauth;
  std::shared_ptr<const TlsContext> tls;  // socket_io.h; null: plain HTTP
  RateLimit rate_limit;  // the limit per token; per address for requests without a valid token
  /// New values of the limits that can be changed while the server runs (http_limits.h). Null: they
  /// stay as they are here.
  std::shared_ptr<const LiveLimits> live_limits;
  std::function<void(int port)> listening;  // called after the port is bound
  /// Returns true if the server will stop soon. GET /healthz then answers with 503, so that a load
  /// balancer sends new clients to another server. All other requests are still answered. Null: the
  /// server never says so.
  std::function<bool()> draining;
  /// Learns of each request, after its answer was written. Workers call it simultaneously. Null:
  /// nobody observes the requests.
  std::function<void(const HttpRecord& record)> request_ended;
  /// Answers the requests for the paths of the application (http_application.h). Null: there are
  /// none. It must outlive the server.
  HttpApplication* application = nullptr;
  /// Adds metrics of the application to the answer of GET /metrics. Null: the application has none.
  std::function<void(MetricsText& text)> more_metrics;
  /// Pages of the application besides MCP (http_pages.h). Null: the application has none. Otherwise
  /// the pages must outlive the call of serve_http().
  HttpPages* pages = nullptr;

  /// The number of simultaneous requests. An idle connection uses no thread. There are enough
  /// threads for all calls, listeners and uploads, and 256 more for short requests.
  int threads = 2304;
  int max_connections = 4096;  // simultaneously open connections
  // Each of the next limits has two parts: a maximum for all clients together, and a maximum for
  // each principal, so that one principal cannot take all places. Without tokens, all clients are
  // one principal, and only the first part applies.
  /// Simultaneous tool calls, including calls that stream.
  int max_calls = 512, principal_calls = 256;
  /// Simultaneous event streams that belong to no call. A client opens such a stream to listen to
  /// the server, and may keep it open for as long as the client lives.
  int max_listeners = 1280, principal_listeners = 1024;
  /// Simultaneous bodies that arrive later than their headers.
  int max_uploads = 256, principal_uploads = 208;
  /// The bytes of these bodies that have arrived. The memory that holds them can be twice as large.
  std::int64_t max_upload_bytes = 256LL << 20, principal_upload_bytes = 208LL << 20;
  /// The maximum number of connections that the kernel queues until the server accepts them. The
  /// system's setting net.core.somaxconn may lower this number.
  int backlog = 4096;
  int max_headers = 64;
  std::int64_t max_header_bytes = 32 << 10;  // includes the request line
  std::int64_t max_body_bytes = 4LL << 20;
  /// The time limit for the head of a request, from its first byte to its last header. For the
  /// first request of a connection, the time begins when the client connects, so it includes the
  /// TLS handshake.
  std::int64_t header_timeout_ms = 10'000;
  std::int64_t body_timeout_ms = 30'000;   // until the whole body has arrived
  std::int64_t write_timeout_ms = 10'000;  // until the client has read a response or an event
  std::int64_t idle_timeout_ms = 30'000;   // between two requests on a connection
  SessionLimits sessions = {};
};

/// Answers POST /mcp, GET /healthz, GET /metrics and the pages until `stop` is requested. For
/// clients with a session, also answers GET /mcp with an event stream, and DELETE /mcp, which ends
/// the session. After the stop request, stops the work of the running calls and tasks, waits until
/// all requests have been answered, and returns. After that, the same Server must not be served
/// again. Returns the exit status of the process: 0, or 71 if the address cannot be bound. Ignores
/// SIGPIPE.
int serve_http(Server& server, const HttpOptions& options, const std::stop_token& stop);

}  // namespace assay::mcp
