// An MCP server. It knows nothing of kernels: the application registers tools, resources and
// prompts, then serves them over stdio or Streamable HTTP. Clients of the stateless revision
// (2026-07-28) and of the legacy ones (2025-11-25 back to 2024-11-05) may be connected at the same
// time.
//
//   Server server({.name = "assay", .title = "Assay", .version = "0.1.0", .instructions = ""});
//   const Status added = server.add_tool(std::move(tool));
//
// serve_stdio() and serve_http() then serve it.
//
// Handlers run on many threads at once. Everything must be registered before the server serves.
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

/// The activities of the application besides answering. The server announces them to clients.
struct Features {
  bool logging = false;  // handlers call context.log
  /// The application publishes changes of these lists.
  bool tools_change = false, prompts_change = false, resources_change = false;
  /// The application publishes resource_updated, so clients may subscribe.
  bool resources_update = false;
};

struct ServerInfo {
  std::string name, title, version, instructions;
  std::string description = {}, website_url = {};
  std::vector<Icon> icons = {};
  Features features = {};
};

/// Limits of the protocol layer; docs/reference/limits.md describes them.
struct ServerLimits {
  std::size_t page_size = 100;                  // entries of a list on one page
  int max_listeners = 64;                       // subscriptions/listen at once
  std::size_t max_session_subscriptions = 256;  // resources/subscribe of one legacy session
  /// The time that a client has to answer an input_required result.
  std::int64_t state_ttl_ms = 900'000;
  TaskLimits tasks = {};
};

/// Objects of the application that the server uses. They must outlive the server.
struct ServerParts {
  TaskStore* task_store = nullptr;  // null: tasks are kept in memory only
  /// The key for requestState. Processes that serve the same clients share it. Empty: a random key.
  std::string state_key = {};
  const Clock* clock = nullptr;  // null: the clock of the machine
};

class Dispatcher;  // dispatch.h

class Server {
 public:
  explicit Server(ServerInfo info, const ServerLimits& limits = {}, ServerParts parts = {});
  ~Server();
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  /// Each returns an error for a name that is used twice, a missing handler, and an unusable schema
  /// or URI template. The server announces capabilities only for what is registered.
  Status add_tool(Tool tool);
  Status add_resource(Resource resource);
  Status add_template(ResourceTemplate resource_template);
  Status add_prompt(Prompt prompt);
  /// Sends the change to every client that subscribed to it. Any thread may call it, also handlers.
  void publish(const Change& change);
  Dispatcher& dispatcher() { return *dispatcher_; }

 private:
  std::unique_ptr<Dispatcher> dispatcher_;
};

}  // namespace assay::mcp
