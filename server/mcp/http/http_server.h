// Serves an MCP server over Streamable HTTP, to clients of both eras at once.
//
//   return mcp::serve_http(server, {.port = 8080}, [&] { return stop.load(); });
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "server/mcp/http/http_admission.h"

namespace assay::mcp {

class Server;
class MetricsText;
class Tokens;
class TlsContext;

/// Named limits of legacy sessions over HTTP.
struct SessionLimits {
  std::size_t max_sessions =
      1024;  // beyond it the one that is idle longest ends; 503 when none is idle
  std::int64_t idle_ms = 1'800'000;  // without a request or an open stream
  std::size_t max_events = 256;      // kept for a client that comes back; of one session
  std::size_t max_event_bytes = 256 << 10;
};

/// What the HTTP server listens on and how much it lets anyone take. docs/reference/limits.md says
/// what a client sees beyond each.
struct HttpOptions {
  std::string host = "127.0.0.1";
  int port = 0;  // 0: any free one
  std::vector<std::string>
      allowed_hosts;                      // further names that it answers to, as Host and in Origin
  std::shared_ptr<const Tokens> tokens;   // tokens.h; null: everyone may do everything
  std::shared_ptr<const TlsContext> tls;  // tls.h; null: plain HTTP
  RateLimit rate_limit;                   // per token, or per address where there are no tokens
  std::function<void(int port)> listening;  // called once bound
  std::function<void(MetricsText& text)>
      more_metrics;  // metrics_text.h: what the application adds to GET /metrics; null: nothing

  int threads = 512;           // requests at once; started when needed, idle connections hold none
  int max_connections = 4096;  // open at once
  int max_calls = 384;    // tool calls at once, streams included: the rest of the threads stay free
                          // for short requests
  int max_streams = 128;  // event streams at once
  int max_uploads = 64;   // bodies at once that did not arrive together with their headers
  int backlog = 4096;     // connections that wait in the kernel; net.core.somaxconn caps it
  int max_headers = 64;
  std::int64_t max_header_bytes = 32 << 10;  // with the request line
  std::int64_t max_body_bytes = 4LL << 20;
  std::int64_t header_timeout_ms = 10'000;  // from a request's first byte (or from connecting, TLS
                                            // handshake included) to its last header
  std::int64_t body_timeout_ms = 30'000;    // for the whole body
  std::int64_t write_timeout_ms =
      10'000;  // for the client to take an answer, or one event of a stream
  std::int64_t idle_timeout_ms = 30'000;  // between two requests of a connection
  SessionLimits sessions = {};            // of legacy clients
};

/// Answers POST /mcp, GET /healthz and GET /metrics until `stop` (null: never) says true. Returns
/// the process's exit status: 0, or 71 when the address is taken or cannot be bound. Ignores
/// SIGPIPE.
int serve_http(Server& server, const HttpOptions& options, const std::function<bool()>& stop);

}  // namespace assay::mcp
