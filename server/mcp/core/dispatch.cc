#include "server/mcp/core/dispatch.h"

#include "server/mcp/protocol/params.h"
#include "server/mcp/protocol/protocol.h"

namespace assay::mcp {
namespace {

using nlohmann::json;

constexpr int kHttpBadRequest = 400;
constexpr int kHttpNotFound = 404;

json describe(const ServerInfo& info) {
  json out = {{"name", info.name}, {"version", info.version}};
  if (!info.title.empty()) out["title"] = info.title;
  if (!info.description.empty()) out["description"] = info.description;
  if (!info.website_url.empty()) out["websiteUrl"] = info.website_url;
  show_icons(out, info.icons);
  return out;
}

/// Returns the HTTP status of a response with the error `code` in the stateless era. In the legacy
/// (session-based) era, the status of such a response is always 200.
int http_status_of(int code) {
  switch (code) {
    case kMethodNotFound: return kHttpNotFound;
    case kMissingCapability:
    case kUnsupportedVersion: return kHttpBadRequest;
    default: return 200;
  }
}

Outcome error_outcome(const json& id, const RpcError& error, int http_status,
                      bool cancelled = false) {
  return {make_error(id, error.code, error.message, error.data), cancelled, http_status};
}

MessageCounts::Ending ending_of(const Outcome& outcome) {
  if (outcome.cancelled) return MessageCounts::Ending::cancelled;
  if (!outcome.response) return MessageCounts::Ending::accepted;
  const auto result = outcome.response->find("result");
  if (result == outcome.response->end()) return MessageCounts::Ending::error;
  return result->is_object() && result->value("isError", false) ? MessageCounts::Ending::failed
                                                                : MessageCounts::Ending::ok;
}

}  // namespace

/// An entry of the table of methods. `needs` says what must be registered so that the server offers
/// the method, for example a tool.
struct Method {
  enum class Needs {
    nothing,
    logging,
    tools,
    resources,
    updates,
    prompts,
    completers,
    changes,
    tasks
  };
  const char* name;
  bool legacy, stateless;
  Needs needs;
  ExecutionClass execution;
  Dispatcher::Handler handler;
};

const std::vector<Method>& Dispatcher::methods() {
  using enum Method::Needs;
  using enum ExecutionClass;
  static const std::vector<Method> kMethods = {
      {"server/discover", false, true, nothing, at_once, &Dispatcher::discover},
      {"initialize", true, false, nothing, at_once, &Dispatcher::initialize},
      {"ping", true, false, nothing, at_once, &Dispatcher::ping},
      {"logging/setLevel", true, false, logging, at_once, &Dispatcher::set_log_level},
      {"tools/list", true, true, tools, at_once, &Dispatcher::list_tools},
      {"tools/call", true, true, tools, handler, &Dispatcher::call_tool},
      {"resources/list", true, true, resources, at_once, &Dispatcher::list_resources},
      {"resources/templates/list", true, true, resources, at_once, &Dispatcher::list_templates},
      {"resources/read", true, true, resources, handler, &Dispatcher::read_resource},
      {"resources/subscribe", true, false, updates, at_once, &Dispatcher::subscribe},
      {"resources/unsubscribe", true, false, updates, at_once, &Dispatcher::unsubscribe},
      {"prompts/list", true, true, prompts, at_once, &Dispatcher::list_prompts},
      {"prompts/get", true, true, prompts, handler, &Dispatcher::get_prompt},
      {"completion/complete", true, true, completers, handler, &Dispatcher::complete},
      {"subscriptions/listen", false, true, changes, lasting, &Dispatcher::listen},
      {"tasks/get", true, true, tasks, at_once, &Dispatcher::get_task},
      {"tasks/update", false, true, tasks, at_once, &Dispatcher::update_task},
      {"tasks/cancel", true, true, tasks, at_once, &Dispatcher::cancel_task},
      {"tasks/result", true, false, tasks, handler, &Dispatcher::task_result},
  };
  return kMethods;
}

Dispatcher::Dispatcher(ServerInfo info, const ServerLimits& limits, ServerParts parts)
    : info_(std::move(info)),
      limits_(limits),
      implementation_(describe(info_)),
      clock_(parts.clock == nullptr ? system_clock() : *parts.clock),
      seal_(parts.state_key.empty() ? random_key() : std::move(parts.state_key),
            std::chrono::milliseconds(limits.state_ttl_ms), clock_),
      observer_(std::move(parts.observer)),
      listeners_({limits.max_listeners, limits.principal_listeners}),
      tasks_(limits.tasks, parts.task_store, notifier_, clock_),
      caller_(tools_, tasks_, seal_) {}

const Method* Dispatcher::find(const std::string& name, bool stateless) {
  for (const Method& method : methods()) {
    if (name == method.name && (stateless ? method.stateless : method.legacy)) return &method;
  }
  return nullptr;
}

ResolvedCall Dispatcher::resolve(Message message, bool stateless) const {
  ResolvedCall call{.message = std::move(message)};
  const Message& known = call.message;
  call.meta = read_meta(known);
  call.stateless = stateless || known.method == "server/discover" || call.meta.names_era;
  if (known.kind != Message::Kind::request) return call;
  call.problem = check_meta(known);
  if (!call.problem && call.stateless) call.problem = check_stateless_meta(known);
  const Method* method = find(known.method, call.stateless);
  if (method == nullptr || !offers(*method)) return call;
  call.method = method;
  call.execution = method->execution;
  if (method->handler != &Dispatcher::call_tool) return call;
  const auto name = known.params.find("name");
  if (name != known.params.end() && name->is_string())
    call.tool = tools_.find(name->get_ref<const std::string&>());
  return call;
}

std::optional<std::string> Dispatcher::argument_mismatch(const ResolvedCall& call,
                                                         const HeaderLookup& header) {
  if (!call.reaches_tool()) return std::nullopt;
  const auto arguments = call.params().find("arguments");
  return param_mismatch(call.tool->headers,
                        arguments == call.params().end() ? json::object() : *arguments, header);
}

Status Dispatcher::add_tool(Tool tool) {
  const std::string name = tool.name;
  ASSAY_RETURN_IF_ERROR(tools_.add(std::move(tool)));
  counts_.declare_tool(name);
  return {};
}

ChangeNotifier::Listener Dispatcher::join(const Session& session) {
  return notifier_.listen([&session](const Change& change) {
    if (change.kind == Change::Kind::task ||
        (change.kind == Change::Kind::resource_updated && !session.subscribed(change.subject)))
      return;
    if (!session.version().empty()) session.send(to_notification(change));
  });
}

void Dispatcher::end() {
  ending_ = true;
  in_flight_.end_all();
  tasks_.end();
}

Outcome Dispatcher::handle(const ResolvedCall& call, const TransportContext& transport) {
  const std::int64_t start_ns = clock_.monotonic_ns();
  const std::int64_t start_unix_ms = observer_ ? clock_.unix_ms() : 0;
  // MCP's own place for the caller's span comes first: a proxy may have set the HTTP header.
  std::optional<TraceParent> parent;
  TraceParent span;
  if (observer_) {
    parent = TraceParent::parse(call.meta.traceparent);
    if (!parent) parent = TraceParent::parse(transport.traceparent);
    span = TraceParent::below(parent);
  }
  Outcome outcome = answer(call, transport, observer_ ? span.text() : "");
  const std::int64_t duration_ns = clock_.monotonic_ns() - start_ns;
  const MessageCounts::Ending ending = ending_of(outcome);
  counts_.add(call.message.kind == Message::Kind::response ? "response" : call.message.method,
              ending, static_cast<double>(duration_ns) / 1e9,
              call.tool == nullptr ? std::string_view() : call.tool->tool.name);
  if (observer_)
    observer_(
        {call, transport, outcome.response, ending, start_unix_ms, duration_ns, span, parent});
  return outcome;
}

Outcome Dispatcher::answer(const ResolvedCall& call, const TransportContext& transport,
                           const std::string& span) {
  switch (call.message.kind) {
    case Message::Kind::response:
      if (transport.session)
        transport.session->questions.deliver(call.message.id, call.message.body);
      return {};
    case Message::Kind::notification: notification(call.message, transport); return {};
    case Message::Kind::request: break;
  }
  return answer_request(call, transport, span);
}

Outcome Dispatcher::answer_request(const ResolvedCall& call, const TransportContext& transport,
                                   const std::string& span) {
  const json& id = call.message.id;
  if (call.problem) return error_outcome(id, *call.problem, call.stateless ? kHttpBadRequest : 200);
  if (call.method == nullptr) {
    return error_outcome(id,
                         {kMethodNotFound, "unknown method '" + call.message.method +
                                               "'; valid: " + valid_methods(call.stateless)},
                         call.stateless ? kHttpNotFound : 200);
  }
  CallScope scope(call, transport, in_flight_, clock_);
  scope.context().traceparent = span;
  Rpc<json> result = (this->*call.method->handler)(scope);
  if (!result)
    return error_outcome(id, result.error(),
                         call.stateless ? http_status_of(result.error().code) : 200,
                         scope.cancelled());
  if (call.stateless) {
    if (!result->contains("resultType")) (*result)["resultType"] = "complete";
    (*result)["_meta"][kMetaServerInfo] = implementation_;
  }
  return {make_result(id, std::move(*result)), scope.cancelled(), 200};
}

std::string Dispatcher::valid_methods(bool stateless) const {
  std::string valid;
  for (const Method& method : methods()) {
    if ((stateless ? method.stateless : method.legacy) && offers(method))
      valid.append(valid.empty() ? "" : ", ").append(method.name);
  }
  return valid;
}

bool Dispatcher::offers(const Method& method) const {
  switch (method.needs) {
    case Method::Needs::nothing: return true;
    case Method::Needs::logging: return info_.features.logging;
    case Method::Needs::tools: return !tools_.list().empty();
    case Method::Needs::resources: return !resources_.empty();
    case Method::Needs::updates: return !resources_.empty() && info_.features.resources_update;
    case Method::Needs::prompts: return !prompts_.empty();
    case Method::Needs::completers: return prompts_.completes() || resources_.completes();
    case Method::Needs::changes: {
      const Features& on = info_.features;
      return on.tools_change || on.prompts_change || on.resources_change || on.resources_update ||
             tools_.has_tasks();
    }
    case Method::Needs::tasks: return tools_.has_tasks();
  }
  return false;
}

void Dispatcher::notification(const Message& message, const TransportContext& transport) {
  if (message.method != "notifications/cancelled") return;  // no other notification needs an action
  const auto id = message.params.find("requestId");
  if (id != message.params.end()) in_flight_.cancel(transport.scope, *id);
}

Server::Server(ServerInfo info, const ServerLimits& limits, ServerParts parts)
    : dispatcher_(std::make_unique<Dispatcher>(std::move(info), limits, std::move(parts))) {}
Server::~Server() = default;

Status Server::add_tool(Tool tool) { return dispatcher_->add_tool(std::move(tool)); }
Status Server::add_resource(Resource resource) {
  return dispatcher_->resources().add(std::move(resource));
}
Status Server::add_template(ResourceTemplate resource_template) {
  return dispatcher_->resources().add(std::move(resource_template));
}
Status Server::add_prompt(Prompt prompt) { return dispatcher_->prompts().add(std::move(prompt)); }

void Server::publish(const Change& change) { dispatcher_->notifier().publish(change); }

}  // namespace assay::mcp
