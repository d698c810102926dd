// Serves an MCP server over Streamable HTTP, to clients of both eras at once.
//
//   std::atomic<bool> stop{false};
//   const int status = serve_http(server, {.port = 8080}, [&stop] { return stop.load(); });
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace assay::mcp {

class Server;
class MetricsText;
class Tokens;
class TlsContext;

/// How often a client may send a request: a steady rate, and a burst after a pause.
struct RateLimit {
  double per_second = 0;  // 0: no limit
  double burst = 0;       // requests at once after a pause; at least 1 when there is a limit
};

/// Limits of the legacy sessions.
struct SessionLimits {
  /// A new session ends the one that is idle longest; when none is idle, the client gets 503.
  std::size_t max_sessions = 1024;
  std::int64_t idle_ms = 1'800'000;  // without a request or an open stream
  std::size_t max_events = 256;      // of one session, kept for a client that comes back
  std::size_t max_event_bytes = 256 << 10;
};

/// The address and the limits of the HTTP server. docs/reference/limits.md says what a client sees
/// beyond each limit.
struct HttpOptions {
  std::string host = "127.0.0.1";
  int port = 0;                             // 0: any free port
  std::vector<std::string> allowed_hosts;   // further names for Host and Origin
  std::shared_ptr<const Tokens> tokens;     // tokens.h; null: every client may do everything
  std::shared_ptr<const TlsContext> tls;    // socket_io.h; null: plain HTTP
  RateLimit rate_limit;                     // per token, or per address without tokens
  std::function<void(int port)> listening;  // called when the port is bound
  /// Adds the application's metrics to GET /metrics; null: there are none.
  std::function<void(MetricsText& text)> more_metrics;

  int threads = 512;           // requests at once; an idle connection holds no thread
  int max_connections = 4096;  // open at once
  /// Tool calls at once, streams included. The other threads stay free for short requests.
  int max_calls = 384;
  int max_streams = 128;  // event streams at once
  int max_uploads = 64;   // bodies at once that arrive later than their headers
  int backlog = 4096;     // connections that wait in the kernel; net.core.somaxconn caps it
  int max_headers = 64;
  std::int64_t max_header_bytes = 32 << 10;  // with the request line
  std::int64_t max_body_bytes = 4LL << 20;
  /// From the first byte of a request to its last header. For the first request it begins when the
  /// client connects, and includes the TLS handshake.
  std::int64_t header_timeout_ms = 10'000;
  std::int64_t body_timeout_ms = 30'000;   // for the whole body
  std::int64_t write_timeout_ms = 10'000;  // until the client has taken an answer or an event
  std::int64_t idle_timeout_ms = 30'000;   // between two requests of a connection
  SessionLimits sessions = {};
};

/// Answers POST /mcp, GET /healthz and GET /metrics until `stop` returns true; a null `stop` never
/// does. Returns the exit status of the process: 0, or 71 when the address cannot be bound. Ignores
/// SIGPIPE.
int serve_http(Server& server, const HttpOptions& options, const std::function<bool()>& stop);

}  // namespace assay::mcp
