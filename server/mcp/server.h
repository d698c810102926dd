// An MCP server that knows nothing of kernels: register tools, then serve them over stdio or Streamable HTTP, to clients
// of the stateless revision (2026-07-28) and of the legacy ones (2025-11-25 back to 2024-11-05), at the same time.
//
//   mcp::Server server({.name = "assay", .version = "0.1.0", .instructions = "..."});
//   server.add_tool({...});                              // tool.h
//   server.add_resource({...}); server.add_prompt({...}); // resource.h, prompt.h; completion.h for what users type
//   return mcp::serve_stdio(server);
//
// Handlers run on many threads at once. Registration must be finished before serving starts.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "server/mcp/hub.h"
#include "server/mcp/prompt.h"
#include "server/mcp/rate_limit.h"
#include "server/mcp/resource.h"
#include "server/mcp/task.h"
#include "server/mcp/tool.h"

namespace assay::mcp {

/// What the application does besides answering; announced to clients.
struct Features {
  bool logging = false;                         // handlers call context.log
  bool tools_change = false, prompts_change = false, resources_change = false;  // it publishes such changes of lists
  bool resources_update = false;                // it publishes resource_updated, so clients may subscribe
};

struct ServerInfo {
  std::string name, title, version, instructions;
  std::string description = {}, website_url = {};
  std::vector<Icon> icons = {};
  Features features = {};
};

/// Named limits of the protocol layer, in docs/limits.md.
struct ServerLimits {
  std::size_t page_size = 100;                  // entries of a list on one page
  int max_listeners = 64;                       // subscriptions/listen at once
  std::size_t max_session_subscriptions = 256;  // resources/subscribe of one legacy session
  std::int64_t state_ttl_ms = 900'000;          // how long a client may take to answer an input_required result
  TaskLimits tasks = {};
};

/// Named limits of legacy sessions over HTTP.
struct SessionLimits {
  std::size_t max_sessions = 1024;              // beyond it the one that is idle longest ends; 503 when none is idle
  std::int64_t idle_ms = 1'800'000;             // without a request or an open stream
  std::size_t max_events = 256;                 // kept for a client that comes back; of one session
  std::size_t max_event_bytes = 256 << 10;
};

/// What the application lends; must outlive the server.
struct ServerParts {
  TaskStore* task_store = nullptr;              // null: tasks are kept in memory only
  std::string state_key = {};                   // for requestState, shared by processes that serve the same clients; empty: a random one
};

class Dispatcher;                               // dispatch.h: one JSON-RPC message in, at most one out

class Server {
 public:
  explicit Server(ServerInfo info, const ServerLimits& limits = {}, ServerParts parts = {});
  ~Server();
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  /// Each aborts start-up (returns an error) on a duplicate name, a missing handler, or a schema or URI template that cannot be used.
  /// Capabilities are announced for what is registered, and only for that.
  Status add_tool(Tool tool);
  Status add_resource(Resource resource);
  Status add_template(ResourceTemplate resource_template);
  Status add_prompt(Prompt prompt);
  /// Tells every client that wants to hear of it. May be called from any thread, handlers included.
  void publish(const Change& change);
  Dispatcher& dispatcher() { return *dispatcher_; }

 private:
  std::unique_ptr<Dispatcher> dispatcher_;
};

class MetricsText;
class Tokens;
class TlsContext;

/// What the HTTP server listens on and how much it lets anyone take. docs/limits.md says what a client sees beyond each.
struct HttpOptions {
  std::string host = "127.0.0.1";
  int port = 0;                                 // 0: any free one
  std::vector<std::string> allowed_hosts;       // further names that it answers to, as Host and in Origin
  std::shared_ptr<const Tokens> tokens;         // tokens.h; null: everyone may do everything
  std::shared_ptr<const TlsContext> tls;        // tls.h; null: plain HTTP
  RateLimit rate_limit;                         // per token, or per address where there are no tokens
  std::function<void(int port)> listening;      // called once bound
  std::function<void(MetricsText& text)> more_metrics;  // metrics_text.h: what the application adds to GET /metrics; null: nothing

  int threads = 512;                            // requests at once; started when needed, idle connections hold none
  int max_connections = 4096;                   // open at once
  int max_calls = 384;                          // tool calls at once, streams included: the rest of the threads stay free for short requests
  int max_streams = 128;                        // event streams at once
  int max_uploads = 64;                         // bodies at once that did not arrive together with their headers
  int backlog = 4096;                           // connections that wait in the kernel; net.core.somaxconn caps it
  int max_headers = 64;
  std::int64_t max_header_bytes = 32 << 10;     // with the request line
  std::int64_t max_body_bytes = 4LL << 20;
  std::int64_t header_timeout_ms = 10'000;      // from a request's first byte (or from connecting, TLS handshake included) to its last header
  std::int64_t body_timeout_ms = 30'000;        // for the whole body
  std::int64_t write_timeout_ms = 10'000;       // for the client to take an answer, or one event of a stream
  std::int64_t idle_timeout_ms = 30'000;        // between two requests of a connection
  SessionLimits sessions = {};                  // of legacy clients
};

/// Both return the process's exit status. serve_stdio takes over fd 0 and fd 1: afterwards everything else that writes to fd 1 lands
/// on stderr. It returns 0 at end of input; calls that still run get 5 s to end, then are cancelled, and a process whose calls do not
/// notice within 5 s more exits at once with 70. serve_http answers POST /mcp, GET /healthz and GET /metrics until `stop` (null: never) says true,
/// then returns 0; 71 when the address is taken or cannot be bound. Both ignore SIGPIPE.
int serve_stdio(Server& server);
int serve_http(Server& server, const HttpOptions& options, const std::function<bool()>& stop);

}  // namespace assay::mcp
