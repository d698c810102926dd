#include "server/mcp/core/dispatch.h"

#include "server/mcp/protocol/meta.h"
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

/// The status of an HTTP answer that carries this error, in the stateless era; legacy errors always
/// go out with 200.
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

}  // namespace

/// THE list of methods. `needs` is what must be registered for the method to exist.
struct Dispatcher::Method {
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
  ExecutionClass pace;
  Handler handler;
};

const std::vector<Dispatcher::Method>& Dispatcher::methods() {
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
      seal_(parts.state_key.empty() ? random_key() : std::move(parts.state_key),
            std::chrono::milliseconds(limits.state_ttl_ms)),
      listeners_(limits.max_listeners),
      tasks_(limits.tasks, parts.task_store, hub_),
      caller_(tools_, tasks_, seal_, in_flight_) {}

bool Dispatcher::is_stateless(const Message& message) {
  if (message.method == "server/discover") return true;
  const json* meta = meta_of(message);
  return meta != nullptr &&
         (meta->contains(kMetaVersion) || meta->contains(kMetaClientCapabilities));
}

const Dispatcher::Method* Dispatcher::find(const std::string& name, bool stateless) {
  for (const Method& method : methods()) {
    if (name == method.name && (stateless ? method.stateless : method.legacy)) return &method;
  }
  return nullptr;
}

ExecutionClass Dispatcher::pace(const Message& message) {
  const Method* method = message.kind == Message::Kind::request
                             ? find(message.method, is_stateless(message))
                             : nullptr;
  return method == nullptr ? ExecutionClass::at_once : method->pace;
}

bool Dispatcher::reaches_tool(const Message& message, bool stateless) const {
  if (message.kind != Message::Kind::request || message.method != "tools/call" ||
      (stateless && check_stateless_meta(message)))
    return false;
  const auto name = message.params.find("name");
  return name != message.params.end() && name->is_string() && tools_.has(*name);
}

std::optional<std::string> Dispatcher::argument_mismatch(const Message& message,
                                                         const HeaderLookup& header) const {
  if (!reaches_tool(message, true)) return std::nullopt;
  const auto arguments = message.params.find("arguments");
  return param_mismatch(tools_.find(message.params["name"])->headers,
                        arguments == message.params.end() ? json::object() : *arguments, header);
}

bool Dispatcher::wants_stream(const Message& message, bool stateless) const {
  if (message.method == "subscriptions/listen")
    return stateless && !check_stateless_meta(message) && offers(*find(message.method, true));
  if (!reaches_tool(message, stateless)) return false;
  const json* meta = meta_of(message);
  if (meta != nullptr && meta->contains(kMetaProgressToken)) return true;
  const bool may_speak = tools_.find(message.params["name"])->tool.interactive;
  return may_speak && (!stateless || (meta != nullptr && meta->contains(kMetaLogLevel)));
}

ChangeNotifier::Listener Dispatcher::join(const Session& session) {
  return hub_.listen([&session](const Change& change) {
    if (change.kind == Change::Kind::task ||
        (change.kind == Change::Kind::resource_updated && !session.subscribed(change.subject)))
      return;
    if (!session.version().empty()) session.send(to_notification(change));
  });
}

void Dispatcher::end() {
  ending_ = true;
  in_flight_.cancel_all();
  tasks_.end();
}

Outcome Dispatcher::handle(const Message& message, const TransportContext& exchange) {
  switch (message.kind) {
    case Message::Kind::response:
      if (exchange.session) exchange.session->questions.deliver(message.id, message.body);
      return {};
    case Message::Kind::notification: notification(message, exchange); return {};
    case Message::Kind::request: break;
  }
  Request request{message, exchange, exchange.stateless || is_stateless(message)};
  if (request.stateless) {
    if (const auto problem = check_stateless_meta(message))
      return error_outcome(message.id, *problem, kHttpBadRequest);
  }
  Rpc<json> result = route(request);
  if (!result)
    return error_outcome(message.id, result.error(),
                         request.stateless ? http_status_of(result.error().code) : 200,
                         request.cancelled);
  if (request.stateless) {
    if (!result->contains("resultType")) (*result)["resultType"] = "complete";
    (*result)["_meta"][kMetaServerInfo] = implementation_;
  }
  return {make_result(message.id, std::move(*result)), request.cancelled, 200};
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

Rpc<json> Dispatcher::route(Request& request) {
  const Method* method = find(request.message.method, request.stateless);
  if (method != nullptr && offers(*method)) return (this->*method->handler)(request);
  std::string valid;
  for (const Method& other : methods()) {
    if ((request.stateless ? other.stateless : other.legacy) && offers(other))
      valid.append(valid.empty() ? "" : ", ").append(other.name);
  }
  return refuse_rpc(kMethodNotFound,
                    "unknown method '" + request.message.method + "'; valid: " + valid);
}

void Dispatcher::notification(const Message& message, const TransportContext& exchange) {
  if (message.method != "notifications/cancelled")
    return;  // notifications/initialized and others ask for nothing
  const auto id = message.params.find("requestId");
  if (id != message.params.end()) in_flight_.cancel(exchange.scope, *id);
}

}  // namespace assay::mcp
