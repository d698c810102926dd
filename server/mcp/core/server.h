// Defines an MCP server. The code knows nothing about kernels: the application registers tools,
// resources and prompts, then serves them over stdio or Streamable HTTP. Clients of the stateless
// revision (2026-07-28) and of the legacy, session-based revisions (2025-11-25 back to 2024-11-05)
// may be connected at the same time.
//
//   Server server({.name = "assay", .title = "Assay", .version = "0.1.0", .instructions = ""});
//   const Status added = server.add_tool(std::move(tool));
//
// serve_stdio() and serve_http() then serve this object.
//
// Handlers run on many threads simultaneously. Everything must be registered before the server
// starts to serve.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "server/mcp/core/call_observer.h"
#include "server/mcp/core/change_notifier.h"
#include "server/mcp/core/prompt.h"
#include "server/mcp/core/resource.h"
#include "server/mcp/core/task.h"
#include "server/mcp/core/tool.h"

namespace assay::mcp {

/// The optional features that the application uses. The server announces them to clients.
struct Features {
  bool logging = false;  // handlers call context.log
  /// True if the application publishes changes of the list of tools, prompts or resources.
  bool tools_change = false, prompts_change = false, resources_change = false;
  /// True if the application publishes changes of kind resource_updated. Only then may clients
  /// subscribe to resources.
  bool resources_update = false;
};

struct ServerInfo {
  std::string name, title, version, instructions;
  std::string description = {}, website_url = {};
  std::vector<Icon> icons = {};
  Features features = {};
};

/// Limits on the use of the protocol. docs/reference/limits.md describes them.
struct ServerLimits {
  std::size_t page_size = 100;  // entries on one page of a list
  /// Simultaneous calls of subscriptions/listen, of all clients and of one principal. Without
  /// tokens, only the first number applies.
  int max_listeners = 1280, principal_listeners = 1024;
  std::size_t max_session_subscriptions = 256;  // subscribed resources of one session
  /// The time in milliseconds after which the state in an input_required result expires. A client
  /// must send its answers before that.
  std::int64_t state_ttl_ms = 900'000;
  TaskLimits tasks = {};
};

/// Objects of the application that the server uses. The objects must outlive the server.
struct ServerParts {
  TaskStore* task_store = nullptr;  // null: tasks are kept only in memory
  /// The key that signs requestState. If several processes serve the same clients, they must have
  /// the same key. Empty: the server draws a random key.
  std::string state_key = {};
  const Clock* clock = nullptr;  // null: the system clock
  CallObserver observer = {};    // null: nobody observes the messages
};

class Dispatcher;  // dispatch.h

class Server {
 public:
  explicit Server(ServerInfo info, const ServerLimits& limits = {}, ServerParts parts = {});
  ~Server();
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  /// Each of these functions returns an error if the name is already in use, the handler is
  /// missing, or a schema or URI template is invalid. The server announces the capability tools,
  /// resources or prompts only if at least one such object is registered.
  Status add_tool(Tool tool);
  Status add_resource(Resource resource);
  Status add_template(ResourceTemplate resource_template);
  Status add_prompt(Prompt prompt);
  /// Sends the change to every client that subscribed to it. A change of a list is also sent to
  /// every legacy session. Any thread may call this function, also from inside a handler.
  void publish(const Change& change);
  Dispatcher& dispatcher() { return *dispatcher_; }

 private:
  std::unique_ptr<Dispatcher> dispatcher_;
};

}  // namespace assay::mcp
