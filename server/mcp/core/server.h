// An MCP server that knows nothing of kernels: register tools, then serve them over stdio or
// Streamable HTTP, to clients of the stateless revision (2026-07-28) and of the legacy ones
// (2025-11-25 back to 2024-11-05), at the same time.
//
//   mcp::Server server({.name = "assay", .version = "0.1.0", .instructions = "..."});
//   server.add_tool({...});                              // tool.h
//   server.add_resource({...}); server.add_prompt({...}); // resource.h, prompt.h; completion.h for
//   what users type return mcp::serve_stdio(server);
//
// Handlers run on many threads at once. Registration must be finished before serving starts.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "server/mcp/core/change_notifier.h"
#include "server/mcp/core/prompt.h"
#include "server/mcp/core/resource.h"
#include "server/mcp/core/task.h"
#include "server/mcp/core/tool.h"

namespace assay::mcp {

/// What the application does besides answering; announced to clients.
struct Features {
  bool logging = false;  // handlers call context.log
  bool tools_change = false, prompts_change = false,
       resources_change = false;  // it publishes such changes of lists
  bool resources_update = false;  // it publishes resource_updated, so clients may subscribe
};

struct ServerInfo {
  std::string name, title, version, instructions;
  std::string description = {}, website_url = {};
  std::vector<Icon> icons = {};
  Features features = {};
};

/// Named limits of the protocol layer, in docs/reference/limits.md.
struct ServerLimits {
  std::size_t page_size = 100;                  // entries of a list on one page
  int max_listeners = 64;                       // subscriptions/listen at once
  std::size_t max_session_subscriptions = 256;  // resources/subscribe of one legacy session
  std::int64_t state_ttl_ms =
      900'000;  // how long a client may take to answer an input_required result
  TaskLimits tasks = {};
};

/// What the application lends; must outlive the server.
struct ServerParts {
  TaskStore* task_store = nullptr;  // null: tasks are kept in memory only
  /// The key for requestState. Processes that serve the same clients share it. Empty: a random key.
  std::string state_key = {};
  const Clock* clock = nullptr;  // null: the machine's
};

class Dispatcher;  // dispatch.h: one JSON-RPC message in, at most one out

class Server {
 public:
  explicit Server(ServerInfo info, const ServerLimits& limits = {}, ServerParts parts = {});
  ~Server();
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  /// Each aborts start-up (returns an error) on a duplicate name, a missing handler, or a schema or
  /// URI template that cannot be used. Capabilities are announced for what is registered, and only
  /// for that.
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

}  // namespace assay::mcp
