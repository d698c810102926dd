// Dispatcher: one JSON-RPC message in, at most one out, whatever carried it. Speaks both eras at once: a request whose params._meta names
// a protocol version is served statelessly (2026-07-28), everything else by the legacy rules (2025-11-25 back to 2024-11-05). No request
// depends on an earlier one, so connections and sessions carry no state here.
//
//   Outcome out = dispatcher.handle(message, {.scope = "stdio", .notify = write_line});
//   if (out.response) write_line(*out.response);
//
// Registration must be finished before the first handle(); handle() may then be called from many threads at once. It returns at once but for
// methods that run a handler (runs_handler()): those return when the handler does.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "server/mcp/exchange.h"
#include "server/mcp/in_flight.h"
#include "server/mcp/jsonrpc.h"
#include "server/mcp/prompt_book.h"
#include "server/mcp/resource_shelf.h"
#include "server/mcp/rpc.h"
#include "server/mcp/server.h"
#include "server/mcp/toolbox.h"

namespace assay::mcp {

struct Outcome {
  std::optional<nlohmann::json> response;  // none for notifications
  bool cancelled = false;                  // the client asked to stop: a stream must not carry the response
  int http_status = 200;
};

class Dispatcher {
 public:
  Dispatcher(ServerInfo info, const ServerLimits& limits);
  Toolbox& tools() { return tools_; }
  ResourceShelf& resources() { return resources_; }
  PromptBook& prompts() { return prompts_; }

  Outcome handle(const Message& message, const Exchange& exchange);
  /// Makes a request cancellable before handle() gets it.
  InFlight::Ticket admit(const Message& message, const std::string& scope) { return in_flight_.open(scope, message.id); }
  void cancel_all() { in_flight_.cancel_all(); }
  std::size_t in_flight() const { return in_flight_.size(); }

  /// The request names a protocol version (or client capabilities) in its _meta, or uses a method that only exists there.
  static bool is_stateless(const Message& message);
  /// handle() may take as long as a tool, a reader or a prompt does: not for the thread that reads messages.
  static bool runs_handler(const Message& message);
  /// handle() will reach the tool: a transport may start a stream before it knows the outcome.
  bool reaches_tool(const Message& message, bool stateless) const;

 private:
  struct Request {
    const Message& message;
    const Exchange& exchange;
    bool stateless;
    bool cancelled = false;  // out
  };
  using Handler = Rpc<nlohmann::json> (Dispatcher::*)(Request& request);
  struct Method;
  static const std::vector<Method>& methods();

  Rpc<nlohmann::json> discover(Request& request);
  Rpc<nlohmann::json> initialize(Request& request);
  Rpc<nlohmann::json> ping(Request& request);
  Rpc<nlohmann::json> list_tools(Request& request);
  Rpc<nlohmann::json> call_tool(Request& request);
  Rpc<nlohmann::json> list_resources(Request& request);
  Rpc<nlohmann::json> list_templates(Request& request);
  Rpc<nlohmann::json> read_resource(Request& request);
  Rpc<nlohmann::json> list_prompts(Request& request);
  Rpc<nlohmann::json> get_prompt(Request& request);
  Rpc<nlohmann::json> complete(Request& request);

  /// Whether something is registered that gives the method a meaning.
  bool offers(const Method& method) const;
  Rpc<nlohmann::json> route(Request& request);
  void notification(const Message& message, const Exchange& exchange);
  nlohmann::json capabilities() const;
  nlohmann::json cacheable(nlohmann::json result, bool stateless) const;
  Rpc<nlohmann::json> page(const nlohmann::json& all, const char* key, const Request& request) const;

  const ServerInfo info_;
  const ServerLimits limits_;
  const nlohmann::json implementation_;
  Toolbox tools_;
  ResourceShelf resources_;
  PromptBook prompts_;
  InFlight in_flight_;
};

}  // namespace assay::mcp
