// Dispatcher handles JSON-RPC messages from any transport. Each message has at most one response.
// The dispatcher serves both protocol eras simultaneously. A request is of the stateless era
// (2026-07-28) if its params._meta has a protocol version or client capabilities, if the transport
// says so, or if its method is server/discover. All other requests are of the legacy, session-based
// era (2025-11-25 back to 2024-11-05). Between two requests, only a session-based client has state:
// its Session, which the transport passes in.
//
//   const ResolvedCall call = dispatcher.resolve(message);
//   const Outcome out = dispatcher.handle(call, {.scope = "stdio", .notify = write_line});
//   if (out.response) write_line(*out.response);
//
// All tools, resources and prompts must be registered before the first resolve(). After that, many
// threads may call the dispatcher simultaneously. A resolved call must not outlive the dispatcher.
#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <string>

#include "base/json.h"
#include "server/mcp/core/call.h"
#include "server/mcp/core/call_observer.h"
#include "server/mcp/core/change_notifier.h"
#include "server/mcp/core/in_flight.h"
#include "server/mcp/core/message_counts.h"
#include "server/mcp/core/prompt.h"
#include "server/mcp/core/resource.h"
#include "server/mcp/core/server.h"
#include "server/mcp/core/session.h"
#include "server/mcp/core/share_limiter.h"
#include "server/mcp/core/signed_state.h"
#include "server/mcp/core/task_table.h"
#include "server/mcp/core/tool.h"
#include "server/mcp/core/tool_caller.h"
#include "server/mcp/protocol/jsonrpc.h"

namespace assay::mcp {

struct Outcome {
  std::optional<nlohmann::json> response;  // a notification has no response
  bool cancelled = false;  // true: the client expects no answer, so a stream must not contain one
  int http_status = 200;
};

class Dispatcher {
 public:
  Dispatcher(ServerInfo info, const ServerLimits& limits, ServerParts parts);
  /// Registers a tool, and counts its calls from now on.
  Status add_tool(Tool tool);
  ResourceRegistry& resources() { return resources_; }
  PromptRegistry& prompts() { return prompts_; }
  const Clock& clock() const { return clock_; }
  const ChangeNotifier& notifier() const { return notifier_; }

  /// Looks up the method, tool and other objects that the message names. `stateless` is true when
  /// the transport knows that the request is of the stateless era.
  ResolvedCall resolve(Message message, bool stateless = false) const;
  Outcome handle(const ResolvedCall& call, const TransportContext& transport);
  Outcome handle(Message message, const TransportContext& transport) {
    return handle(resolve(std::move(message), transport.stateless), transport);
  }
  /// Sends published changes to the session, until the returned listener is destroyed. Sends
  /// nothing before `initialize`, no changes of tasks, and updates only of resources that the
  /// session subscribed to. The session must outlive the listener.
  ChangeNotifier::Listener join(const Session& session);
  /// Adds a request to the table of running requests, so that the client can cancel the request
  /// while it still waits for handle().
  InFlight::Ticket admit(const ResolvedCall& call, const std::string& scope) {
    return in_flight_.open(scope, call.message.id);
  }
  /// Shuts the dispatcher down. Stops the work of the calls and tasks that run or start later. Ends
  /// each subscription with a result.
  void end();
  /// Forgets the tasks whose time is over. A transport calls this from time to time.
  void forget_expired() { tasks_.forget_expired(); }
  void cancel_scope(const std::string& scope) { in_flight_.cancel_scope(scope); }
  /// Stops the work of the calls of one client because the server shuts down.
  void end_scope(const std::string& scope) { in_flight_.end_scope(scope); }
  std::size_t in_flight() const { return in_flight_.size(); }

  /// In the stateless era, some HTTP headers must repeat arguments of a tool. This function
  /// compares these headers with the arguments (http_headers.h). Returns a sentence about the first
  /// difference, or nothing if there is none.
  static std::optional<std::string> argument_mismatch(const ResolvedCall& call,
                                                      const HeaderLookup& header);

  /// Statistics about all messages that were handled, over all transports.
  const MessageCounts& counts() const { return counts_; }

 private:
  friend struct Method;
  using Handler = Rpc<nlohmann::json> (Dispatcher::*)(CallScope& call);
  static const std::vector<Method>& methods();
  static const Method* find(const std::string& name, bool stateless);
  /// Returns true when the tools, resources or features that the method needs are registered.
  bool offers(const Method& method) const;
  Outcome answer(const ResolvedCall& call, const TransportContext& transport,
                 const std::string& span);
  Outcome answer_request(const ResolvedCall& call, const TransportContext& transport,
                         const std::string& span);
  std::string valid_methods(bool stateless) const;

  Rpc<nlohmann::json> discover(CallScope& call);
  Rpc<nlohmann::json> initialize(CallScope& call);
  Rpc<nlohmann::json> ping(CallScope& call);
  Rpc<nlohmann::json> set_log_level(CallScope& call);
  Rpc<nlohmann::json> list_tools(CallScope& call);
  Rpc<nlohmann::json> call_tool(CallScope& call);
  Rpc<nlohmann::json> list_resources(CallScope& call);
  Rpc<nlohmann::json> list_templates(CallScope& call);
  Rpc<nlohmann::json> read_resource(CallScope& call);
  Rpc<nlohmann::json> subscribe(CallScope& call);
  Rpc<nlohmann::json> unsubscribe(CallScope& call);
  Rpc<nlohmann::json> list_prompts(CallScope& call);
  Rpc<nlohmann::json> get_prompt(CallScope& call);
  Rpc<nlohmann::json> complete(CallScope& call);
  Rpc<nlohmann::json> listen(CallScope& call);
  Rpc<nlohmann::json> get_task(CallScope& call);
  Rpc<nlohmann::json> update_task(CallScope& call);
  Rpc<nlohmann::json> cancel_task(CallScope& call);
  Rpc<nlohmann::json> task_result(CallScope& call);

  void notification(const Message& message, const TransportContext& transport);
  nlohmann::json capabilities(bool stateless) const;
  nlohmann::json cacheable(nlohmann::json result, bool stateless) const;
  Rpc<nlohmann::json> page(const nlohmann::json& all, const char* key, const CallScope& call) const;
  /// Runs `attempt`, which reads a resource or gets a prompt. If `attempt` needs input from the
  /// client, obtains the input first.
  template <class Attempt, class Render>
  Rpc<nlohmann::json> run_handler(CallScope& call, const Attempt& attempt, const Render& render);

  const ServerInfo info_;
  const ServerLimits limits_;
  const nlohmann::json implementation_;
  const Clock& clock_;
  const SignedState seal_;
  const CallObserver observer_;
  MessageCounts counts_;
  ToolRegistry tools_;
  ResourceRegistry resources_;
  PromptRegistry prompts_;
  ChangeNotifier notifier_;
  InFlight in_flight_;
  ShareLimiter listeners_;
  std::atomic<bool> ending_{false};
  TaskTable tasks_;
  ToolCaller caller_;
};

}  // namespace assay::mcp
