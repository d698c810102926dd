// What each method of the dispatcher's table does.
#include "server/mcp/core/call_scope.h"
#include "server/mcp/core/complete_method.h"
#include "server/mcp/core/dispatch.h"
#include "server/mcp/core/listen.h"
#include "server/mcp/core/task_methods.h"
#include "server/mcp/protocol/meta.h"
#include "server/mcp/protocol/pagination.h"
#include "server/mcp/protocol/protocol.h"

namespace assay::mcp {

using nlohmann::json;

json Dispatcher::capabilities(bool stateless) const {
  const Features& on = info_.features;
  const auto with_list_changed = [](bool changes) {
    return changes ? json{{"listChanged", true}} : json::object();
  };
  json out = json::object();
  if (!tools_.list().empty()) out["tools"] = with_list_changed(on.tools_change);
  if (!prompts_.empty()) out["prompts"] = with_list_changed(on.prompts_change);
  if (!resources_.empty()) {
    out["resources"] = with_list_changed(on.resources_change);
    if (on.resources_update) out["resources"]["subscribe"] = true;
  }
  if (prompts_.completes() || resources_.completes()) out["completions"] = json::object();
  if (on.logging) out["logging"] = json::object();
  if (tools_.has_tasks() && stateless) out["extensions"][kTasksExtension] = json::object();
  // No tasks/list: without authentication nobody's tasks could be told from anybody else's.
  if (tools_.has_tasks() && !stateless)
    out["tasks"] = {{"cancel", json::object()},
                    {"requests", {{"tools", {{"call", json::object()}}}}}};
  return out;
}

json Dispatcher::cacheable(json result, bool stateless) const {
  if (stateless) result.update({{"ttlMs", kListTtlMs}, {"cacheScope", "public"}});
  return result;
}

Rpc<json> Dispatcher::page(const json& all, const char* key, const Request& request) const {
  return list_page(all, key, request.params(), limits_.page_size).map([&](json result) {
    return cacheable(std::move(result), request.stateless);
  });
}

Rpc<json> Dispatcher::discover(Request& request) {
  json result = {{"supportedVersions", supported_versions()}, {"capabilities", capabilities(true)}};
  if (!info_.instructions.empty()) result["instructions"] = info_.instructions;
  return cacheable(std::move(result), request.stateless);
}

Rpc<json> Dispatcher::initialize(Request& request) {
  const json& params = request.params();
  const auto asked = params.find("protocolVersion");
  if (asked == params.end() || !asked->is_string())
    return refuse_rpc(kInvalidParams,
                      "params.protocolVersion must be a string, such as \"2025-11-25\"");
  const std::string version = is_legacy_version(asked->get<std::string>())
                                  ? asked->get<std::string>()
                                  : std::string(kLegacyVersions.front());
  if (request.exchange.session) {
    const json declared = params.value("capabilities", json());
    request.exchange.session->open(version, declared.is_object() ? declared : json::object());
  }
  json result = {{"protocolVersion", version},
                 {"capabilities", capabilities(false)},
                 {"serverInfo", implementation_}};
  if (!info_.instructions.empty()) result["instructions"] = info_.instructions;
  return result;
}

Rpc<json> Dispatcher::ping(Request&) { return json::object(); }

Rpc<json> Dispatcher::set_log_level(Request& request) {
  const json level = request.params().value("level", json());
  const auto parsed =
      level.is_string() ? log_level_from(level.get_ref<const std::string&>()) : std::nullopt;
  if (!parsed)
    return refuse_rpc(kInvalidParams,
                      std::string("params.level must be one of ") + kValidLogLevels);
  if (!request.exchange.session)
    return refuse_rpc(
        kInvalidRequest,
        "a log level belongs to a session; send the Mcp-Session-Id that initialize gave");
  request.exchange.session->log_level = *parsed;
  return json::object();
}

Rpc<json> Dispatcher::list_tools(Request& request) {
  return page(request.stateless ? tools_.list() : tools_.legacy_list(), "tools", request);
}
Rpc<json> Dispatcher::list_resources(Request& request) {
  return page(resources_.resources(), "resources", request);
}
Rpc<json> Dispatcher::list_templates(Request& request) {
  return page(resources_.templates(), "resourceTemplates", request);
}
Rpc<json> Dispatcher::list_prompts(Request& request) {
  return page(prompts_.list(), "prompts", request);
}
Rpc<json> Dispatcher::complete(Request& request) {
  return complete_value(request.params(), prompts_, resources_);
}

Rpc<json> Dispatcher::call_tool(Request& request) {
  if (const auto level = requested_log_level(request.message); request.stateless && !level)
    return tl::unexpected<RpcError>(level.error());
  return caller_.call(request.message, request.exchange, request.stateless, request.cancelled);
}

template <class Attempt, class Render>
Rpc<json> Dispatcher::run_handler(Request& request, const Attempt& attempt, const Render& render) {
  CallScope call(request.message, request.exchange, in_flight_, request.stateless);
  if (const auto problem = call.take_input(seal_)) return tl::unexpected<RpcError>(*problem);
  auto outcome = gather_input(call, attempt);
  call.close();
  request.cancelled = call.cancelled();
  if (!outcome) return tl::unexpected<RpcError>(outcome.error());
  if (outcome->input_required)
    return input_required_result(*outcome->input_required, call, seal_,
                                 request.exchange.principal());
  return render(std::move(*outcome));
}

Rpc<json> Dispatcher::read_resource(Request& request) {
  Rpc<json> result = run_handler(
      request, [&](RequestContext& context) { return resources_.read(request.params(), context); },
      [&](const ReadResult& read) { return to_json(read, request.stateless); });
  if (!result && result.error().code == kResourceNotFound && request.stateless)
    result.error().code = kInvalidParams;
  return result;
}

Rpc<json> Dispatcher::get_prompt(Request& request) {
  return run_handler(
      request, [&](RequestContext& context) { return prompts_.get(request.params(), context); },
      [](PromptResult got) { return to_json(std::move(got)); });
}

Rpc<json> Dispatcher::subscribe(Request& request) {
  const json uri = request.params().value("uri", json());
  if (!uri.is_string()) return refuse_rpc(kInvalidParams, "params.uri must be a string");
  if (!resources_.knows(uri))
    return refuse_rpc(kResourceNotFound, "Resource not found: '" + uri.get<std::string>() + "'",
                      {{"uri", uri}});
  if (!request.exchange.session)
    return refuse_rpc(
        kInvalidRequest,
        "a subscription belongs to a session; send the Mcp-Session-Id that initialize gave");
  if (!request.exchange.session->subscribe(uri, limits_.max_session_subscriptions))
    return refuse_rpc(kInvalidRequest, "too many subscriptions: the limit is " +
                                           std::to_string(limits_.max_session_subscriptions) +
                                           " a session");
  return json::object();
}

Rpc<json> Dispatcher::unsubscribe(Request& request) {
  const json uri = request.params().value("uri", json());
  if (!uri.is_string()) return refuse_rpc(kInvalidParams, "params.uri must be a string");
  if (request.exchange.session) request.exchange.session->unsubscribe(uri);
  return json::object();
}

Rpc<json> Dispatcher::listen(Request& request) {
  auto filter = read_filter(request.params());
  if (!filter) return tl::unexpected<RpcError>(filter.error());
  if (!filter->task_ids.empty() && !declares_extension(request.message, kTasksExtension))
    return tl::unexpected<RpcError>(missing_tasks_extension());
  if (!request.exchange.notify)
    return refuse_rpc(kInvalidRequest, "a subscription needs a stream: accept text/event-stream");
  const ConcurrencyLimiter::Pass place = listeners_.enter();
  if (!place)
    return refuse_rpc(kInternalError, "too many subscriptions: the limit is " +
                                          std::to_string(limits_.max_listeners) + " at once");
  const Features& on = info_.features;
  const std::string principal = request.exchange.principal();
  filter->tools &= on.tools_change;
  filter->prompts &= on.prompts_change;
  filter->resources &= on.resources_change;
  std::erase_if(filter->uris, [&](const std::string& uri) {
    return !on.resources_update || !resources_.knows(uri);
  });
  std::erase_if(filter->task_ids,
                [&](const std::string& id) { return !tasks_.find(id, principal); });

  CallScope call(request.message, request.exchange, in_flight_, true);
  const auto to_message = [&](const Change& change) -> json {
    if (change.kind != Change::Kind::task) return to_notification(change);
    const auto task = tasks_.find(change.subject, principal);
    return task ? make_notification("notifications/tasks", detailed_task(*task, tasks_.limits()))
                : json(nullptr);
  };
  tell_changes(request.message.id, *filter, hub_, request.exchange.notify, to_message,
               [&] { return ending_ || call.context().cancelled(); });
  request.cancelled = !ending_;
  return json{{"_meta", {{kMetaSubscription, request.message.id}}}};
}

Rpc<json> Dispatcher::get_task(Request& request) {
  if (request.stateless && !declares_extension(request.message, kTasksExtension))
    return tl::unexpected<RpcError>(missing_tasks_extension());
  return mcp::get_task(tasks_, request.params(), request.exchange.principal(), request.stateless);
}

Rpc<json> Dispatcher::update_task(Request& request) {
  if (!declares_extension(request.message, kTasksExtension))
    return tl::unexpected<RpcError>(missing_tasks_extension());
  return mcp::update_task(tasks_, request.params(), request.exchange.principal());
}

Rpc<json> Dispatcher::cancel_task(Request& request) {
  if (request.stateless && !declares_extension(request.message, kTasksExtension))
    return tl::unexpected<RpcError>(missing_tasks_extension());
  return mcp::cancel_task(tasks_, request.params(), request.exchange.principal(),
                          request.stateless);
}

Rpc<json> Dispatcher::task_result(Request& request) {
  CallScope call(request.message, request.exchange, in_flight_, request.stateless);
  auto result = mcp::task_result(tasks_, request.params(), request.exchange.principal(),
                                 call.context().cancelled);
  request.cancelled = call.cancelled();
  return result;
}

}  // namespace assay::mcp
