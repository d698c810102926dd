// Dispatcher: one JSON-RPC message in, at most one out, whatever carried it. Speaks both eras at
// once: a request whose params._meta names a protocol version is served statelessly (2026-07-28),
// everything else by the legacy rules (2025-11-25 back to 2024-11-05). What a legacy client told
// earlier is in its Session, which the transport passes along; there is no other state between
// requests.
//
//   Outcome out = dispatcher.handle(message, {.scope = "stdio", .notify = write_line});
//   if (out.response) write_line(*out.response);
//
// Registration must be finished before the first handle(); handle() may then be called from many
// threads at once. pace() says how long it takes.
#pragma once

#include <atomic>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "base/concurrency_limiter.h"
#include "server/mcp/core/change_notifier.h"
#include "server/mcp/core/in_flight.h"
#include "server/mcp/core/prompt_registry.h"
#include "server/mcp/core/resource_registry.h"
#include "server/mcp/core/server.h"
#include "server/mcp/core/session.h"
#include "server/mcp/core/signed_state.h"
#include "server/mcp/core/task_table.h"
#include "server/mcp/core/tool_caller.h"
#include "server/mcp/core/tool_registry.h"
#include "server/mcp/core/transport_context.h"
#include "server/mcp/protocol/jsonrpc.h"
#include "server/mcp/protocol/rpc.h"

namespace assay::mcp {

struct Outcome {
  std::optional<nlohmann::json> response;  // none for notifications
  bool cancelled = false;  // the client asked to stop: a stream must not carry the response
  int http_status = 200;
};

/// How long handle() takes: no time; as long as a handler does; until the client or the server ends
/// it.
enum class ExecutionClass { at_once, handler, lasting };

class Dispatcher {
 public:
  Dispatcher(ServerInfo info, const ServerLimits& limits, ServerParts parts);
  ToolRegistry& tools() { return tools_; }
  ResourceRegistry& resources() { return resources_; }
  PromptRegistry& prompts() { return prompts_; }
  const ChangeNotifier& hub() const { return hub_; }

  Outcome handle(const Message& message, const TransportContext& exchange);
  /// From now on the session hears of changes, until the result dies. The session must live longer.
  ChangeNotifier::Listener join(const Session& session);
  /// Makes a request cancellable before handle() gets it.
  InFlight::Ticket admit(const Message& message, const std::string& scope) {
    return in_flight_.open(scope, message.id);
  }
  /// At shutdown: running calls and tasks are cancelled, subscriptions end with a result.
  void end();
  void cancel_scope(const std::string& scope) { in_flight_.cancel_scope(scope); }
  void cancel_all() { in_flight_.cancel_all(); }
  std::size_t in_flight() const { return in_flight_.size(); }

  /// The request names a protocol version (or client capabilities) in its _meta, or uses a method
  /// that only exists there.
  static bool is_stateless(const Message& message);
  static ExecutionClass pace(const Message& message);
  /// handle() will reach the tool: a transport may start a stream before it knows the outcome.
  bool reaches_tool(const Message& message, bool stateless) const;
  /// What is wrong with the headers that mirror a tool's arguments (param_headers.h); nothing when
  /// they match.
  std::optional<std::string> argument_mismatch(const Message& message,
                                               const HeaderLookup& header) const;
  /// Something can come before the answer, so that the answer should be a stream: progress, log
  /// messages, questions, changes.
  bool wants_stream(const Message& message, bool stateless) const;

 private:
  struct Request {
    const Message& message;
    const TransportContext& exchange;
    bool stateless;
    bool cancelled = false;  // out
    const nlohmann::json& params() const { return message.params; }
  };
  using Handler = Rpc<nlohmann::json> (Dispatcher::*)(Request& request);
  struct Method;
  static const std::vector<Method>& methods();
  static const Method* find(const std::string& name, bool stateless);
  /// Whether something is registered that gives the method a meaning.
  bool offers(const Method& method) const;
  Rpc<nlohmann::json> route(Request& request);

  Rpc<nlohmann::json> discover(Request& request);
  Rpc<nlohmann::json> initialize(Request& request);
  Rpc<nlohmann::json> ping(Request& request);
  Rpc<nlohmann::json> set_log_level(Request& request);
  Rpc<nlohmann::json> list_tools(Request& request);
  Rpc<nlohmann::json> call_tool(Request& request);
  Rpc<nlohmann::json> list_resources(Request& request);
  Rpc<nlohmann::json> list_templates(Request& request);
  Rpc<nlohmann::json> read_resource(Request& request);
  Rpc<nlohmann::json> subscribe(Request& request);
  Rpc<nlohmann::json> unsubscribe(Request& request);
  Rpc<nlohmann::json> list_prompts(Request& request);
  Rpc<nlohmann::json> get_prompt(Request& request);
  Rpc<nlohmann::json> complete(Request& request);
  Rpc<nlohmann::json> listen(Request& request);
  Rpc<nlohmann::json> get_task(Request& request);
  Rpc<nlohmann::json> update_task(Request& request);
  Rpc<nlohmann::json> cancel_task(Request& request);
  Rpc<nlohmann::json> task_result(Request& request);

  void notification(const Message& message, const TransportContext& exchange);
  nlohmann::json capabilities(bool stateless) const;
  nlohmann::json cacheable(nlohmann::json result, bool stateless) const;
  Rpc<nlohmann::json> page(const nlohmann::json& all, const char* key,
                           const Request& request) const;
  /// Runs a reader or a prompt, with input where it needs some.
  template <class Attempt, class Render>
  Rpc<nlohmann::json> run_handler(Request& request, const Attempt& attempt, const Render& render);

  const ServerInfo info_;
  const ServerLimits limits_;
  const nlohmann::json implementation_;
  const SignedState seal_;
  ToolRegistry tools_;
  ResourceRegistry resources_;
  PromptRegistry prompts_;
  ChangeNotifier hub_;
  InFlight in_flight_;
  ConcurrencyLimiter listeners_;
  std::atomic<bool> ending_{false};
  TaskTable tasks_;
  ToolCaller caller_;
};

}  // namespace assay::mcp
