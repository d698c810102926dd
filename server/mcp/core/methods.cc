// Implements the MCP methods that the table in dispatch.cc lists.
#include "server/mcp/core/call.h"
#include "server/mcp/core/change_notifier.h"
#include "server/mcp/core/completion.h"
#include "server/mcp/core/dispatch.h"
#include "server/mcp/core/task.h"
#include "server/mcp/protocol/params.h"
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
  // For tasks, the capability `list` is left out, because the server never offers tasks/list. A
  // server without access tokens cannot tell its clients apart. So tasks/list would show each
  // client the tasks of all clients.
  if (tools_.has_tasks() && !stateless)
    out["tasks"] = {{"cancel", json::object()},
                    {"requests", {{"tools", {{"call", json::object()}}}}}};
  return out;
}

json Dispatcher::cacheable(json result, bool stateless) const {
  if (stateless) result.update({{"ttlMs", kListTtlMs}, {"cacheScope", "public"}});
  return result;
}

Rpc<json> Dispatcher::page(const json& all, const char* key, const CallScope& call) const {
  return list_page(all, key, call.params(), limits_.page_size).map([&](json result) {
    return cacheable(std::move(result), call.stateless());
  });
}

Rpc<json> Dispatcher::discover(CallScope& call) {
  json result = {{"supportedVersions", supported_versions()}, {"capabilities", capabilities(true)}};
  if (!info_.instructions.empty()) result["instructions"] = info_.instructions;
  return cacheable(std::move(result), call.stateless());
}

Rpc<json> Dispatcher::initialize(CallScope& call) {
  const json& params = call.params();
  const auto asked = params.find("protocolVersion");
  if (asked == params.end() || !asked->is_string())
    return refuse_rpc(kInvalidParams,
                      "params.protocolVersion must be a string, such as \"2025-11-25\"");
  const std::string version = is_legacy_version(asked->get<std::string>())
                                  ? asked->get<std::string>()
                                  : std::string(kLegacyVersions.front());
  if (call.transport().session) {
    const json declared = params.value("capabilities", json());
    call.transport().session->open(version, declared.is_object() ? declared : json::object());
  }
  json result = {{"protocolVersion", version},
                 {"capabilities", capabilities(false)},
                 {"serverInfo", implementation_}};
  if (!info_.instructions.empty()) result["instructions"] = info_.instructions;
  return result;
}

Rpc<json> Dispatcher::ping(CallScope&) { return json::object(); }

Rpc<json> Dispatcher::set_log_level(CallScope& call) {
  const json level = call.params().value("level", json());
  const auto parsed =
      level.is_string() ? log_level_from(level.get_ref<const std::string&>()) : std::nullopt;
  if (!parsed)
    return refuse_rpc(kInvalidParams,
                      std::string("params.level must be one of ") + kValidLogLevels);
  if (!call.transport().session)
    return refuse_rpc(
        kInvalidRequest,
        "a log level belongs to a session; send the Mcp-Session-Id that initialize gave");
  call.transport().session->log_level = *parsed;
  return json::object();
}

Rpc<json> Dispatcher::list_tools(CallScope& call) {
  return page(call.stateless() ? tools_.list() : tools_.legacy_list(), "tools", call);
}
Rpc<json> Dispatcher::list_resources(CallScope& call) {
  return page(resources_.resources(), "resources", call);
}
Rpc<json> Dispatcher::list_templates(CallScope& call) {
  return page(resources_.templates(), "resourceTemplates", call);
}
Rpc<json> Dispatcher::list_prompts(CallScope& call) {
  return page(prompts_.list(), "prompts", call);
}
Rpc<json> Dispatcher::complete(CallScope& call) {
  return complete_value(call.params(), prompts_, resources_);
}

Rpc<json> Dispatcher::call_tool(CallScope& call) {
  if (const auto& level = call.call().meta.log_level; call.stateless() && !level)
    return tl::unexpected<RpcError>(level.error());
  return caller_.call(call);
}

template <class Attempt, class Render>
Rpc<json> Dispatcher::run_handler(CallScope& call, const Attempt& attempt, const Render& render) {
  if (const auto problem = call.take_input(seal_)) return tl::unexpected<RpcError>(*problem);
  auto outcome = gather_input(call, attempt);
  call.close();
  if (!outcome) return tl::unexpected<RpcError>(outcome.error());
  if (outcome->input_required) return input_required_result(*outcome->input_required, call, seal_);
  return render(std::move(*outcome));
}

Rpc<json> Dispatcher::read_resource(CallScope& call) {
  Rpc<json> result = run_handler(
      call, [&](RequestContext& context) { return resources_.read(call.params(), context); },
      [&](const ReadResult& read) { return to_json(read, call.stateless()); });
  if (!result && result.error().code == kResourceNotFound && call.stateless())
    result.error().code = kInvalidParams;
  return result;
}

Rpc<json> Dispatcher::get_prompt(CallScope& call) {
  return run_handler(
      call, [&](RequestContext& context) { return prompts_.get(call.params(), context); },
      [](PromptResult got) { return to_json(std::move(got)); });
}

Rpc<json> Dispatcher::subscribe(CallScope& call) {
  const json uri = call.params().value("uri", json());
  if (!uri.is_string()) return refuse_rpc(kInvalidParams, "params.uri must be a string");
  if (!resources_.knows(uri))
    return refuse_rpc(kResourceNotFound, "Resource not found: '" + uri.get<std::string>() + "'",
                      {{"uri", uri}});
  if (!call.transport().session)
    return refuse_rpc(
        kInvalidRequest,
        "a subscription belongs to a session; send the Mcp-Session-Id that initialize gave");
  if (!call.transport().session->subscribe(uri, limits_.max_session_subscriptions))
    return refuse_rpc(kInvalidRequest, "too many subscriptions: the limit is " +
                                           std::to_string(limits_.max_session_subscriptions) +
                                           " a session");
  return json::object();
}

Rpc<json> Dispatcher::unsubscribe(CallScope& call) {
  const json uri = call.params().value("uri", json());
  if (!uri.is_string()) return refuse_rpc(kInvalidParams, "params.uri must be a string");
  if (call.transport().session) call.transport().session->unsubscribe(uri);
  return json::object();
}

Rpc<json> Dispatcher::listen(CallScope& call) {
  auto filter = read_filter(call.params());
  if (!filter) return tl::unexpected<RpcError>(filter.error());
  if (!filter->task_ids.empty() && !call.call().meta.declares_extension(kTasksExtension))
    return tl::unexpected<RpcError>(missing_tasks_extension());
  if (!call.transport().notify)
    return refuse_rpc(kInvalidRequest, "a subscription needs a stream: accept text/event-stream");
  const std::string principal = call.transport().principal();
  const ShareLimiter::Pass place = listeners_.enter(principal);
  if (!place) {
    const bool own = place.refusal() == ShareLimiter::Refusal::share_taken;
    const int limit = own ? limits_.principal_listeners : limits_.max_listeners;
    return refuse_rpc(kInternalError, "too many subscriptions: the limit is " +
                                          std::to_string(limit) +
                                          (own ? " at once for each token" : " at once"));
  }
  const Features& on = info_.features;
  filter->tools &= on.tools_change;
  filter->prompts &= on.prompts_change;
  filter->resources &= on.resources_change;
  std::erase_if(filter->uris, [&](const std::string& uri) {
    return !on.resources_update || !resources_.knows(uri);
  });
  std::erase_if(filter->task_ids,
                [&](const std::string& id) { return !tasks_.find(id, principal); });

  const auto to_message = [&](const Change& change) -> json {
    if (change.kind != Change::Kind::task) return to_notification(change);
    const auto task = tasks_.find(change.subject, principal);
    return task ? make_notification("notifications/tasks", detailed_task(*task, tasks_.limits()))
                : json(nullptr);
  };
  // No subscription starts after end() has set ending_. If a subscription passed this check
  // earlier, its request is in the table of running requests, and end() cancels it after setting
  // ending_.
  if (!ending_)
    tell_changes(call.call().message.id, *filter, notifier_, call.transport().notify, to_message,
                 call.context().stop);
  call.set_cancelled(!ending_);
  return json{{"_meta", {{kMetaSubscription, call.call().message.id}}}};
}

Rpc<json> Dispatcher::get_task(CallScope& call) {
  if (call.stateless() && !call.call().meta.declares_extension(kTasksExtension))
    return tl::unexpected<RpcError>(missing_tasks_extension());
  return mcp::get_task(tasks_, call.params(), call.transport().principal(), call.stateless());
}

Rpc<json> Dispatcher::update_task(CallScope& call) {
  if (!call.call().meta.declares_extension(kTasksExtension))
    return tl::unexpected<RpcError>(missing_tasks_extension());
  return mcp::update_task(tasks_, call.params(), call.transport().principal());
}

Rpc<json> Dispatcher::cancel_task(CallScope& call) {
  if (call.stateless() && !call.call().meta.declares_extension(kTasksExtension))
    return tl::unexpected<RpcError>(missing_tasks_extension());
  return mcp::cancel_task(tasks_, call.params(), call.transport().principal(), call.stateless());
}

Rpc<json> Dispatcher::task_result(CallScope& call) {
  return mcp::task_result(tasks_, call.params(), call.transport().principal(), call.context().stop);
}

}  // namespace assay::mcp
