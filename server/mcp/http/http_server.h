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

namespace assay::mcp {

class Server;
class MetricsText;
class Tokens;
class TlsContext;

/// The limit on how often a client may send requests: a steady rate, and a burst after a pause.
struct RateLimit {
  double per_second = 0;  // 0: no limit
  double burst = 0;       // requests allowed at once after a pause; at least 1 if there is a limit
};

/// Limits on sessions of the legacy, session-based era.
struct SessionLimits {
  /// The maximum number of sessions. When it is reached, a new session ends the session that has
  /// not been used for the longest time. If every session has a running request or an open stream,
  /// the server answers with HTTP status 503.
  std::size_t max_sessions = 1024;
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
  std::shared_ptr<const Tokens> tokens;    // tokens.h; null: every client may do everything
  std::shared_ptr<const TlsContext> tls;   // socket_io.h; null: plain HTTP
  RateLimit rate_limit;  // the limit per token; per address for requests without a valid token
  std::function<void(int port)> listening;  // called after the port is bound
  /// Returns true if the server will stop soon. GET /healthz then answers with 503, so that a load
  /// balancer sends new clients to another server. All other requests are still answered. Null: the
  /// server never says so.
  std::function<bool()> draining;
  /// Adds metrics of the application to the answer of GET /metrics. Null: the application has none.
  std::function<void(MetricsText& text)> more_metrics;

  int threads = 512;  // the number of simultaneous requests; an idle connection uses no thread
  int max_connections = 4096;  // simultaneously open connections
  /// The maximum number of simultaneous tool calls, including calls that stream. The remaining
  /// threads stay free for short requests.
  int max_calls = 384;
  int max_streams = 128;  // simultaneous event streams
  int max_uploads = 64;   // simultaneous bodies that arrive later than their headers
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

/// Answers POST /mcp, GET /healthz and GET /metrics until `stop` is requested. For clients with a
/// session, also answers GET /mcp with an event stream, and DELETE /mcp, which ends the session.
/// After the stop request, stops the work of the running calls and tasks, waits until all requests
/// have been answered, and returns. After that, the same Server must not be served again. Returns
/// the exit status of the process: 0, or 71 if the address cannot be bound. Ignores SIGPIPE.
int serve_http(Server& server, const HttpOptions& options, const std::stop_token& stop);

}  // namespace assay::mcp
