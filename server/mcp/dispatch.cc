#include "server/mcp/dispatch.h"

#include "server/mcp/call_scope.h"
#include "server/mcp/complete_method.h"
#include "server/mcp/meta.h"
#include "server/mcp/pagination.h"
#include "server/mcp/protocol.h"

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

/// The status of an HTTP answer that carries this error, in the stateless era; legacy errors always go out with 200.
int http_status_of(int code, bool meta_was_bad) {
  if (code == kMethodNotFound) return kHttpNotFound;
  return meta_was_bad ? kHttpBadRequest : 200;
}

Outcome error_outcome(const json& id, const RpcError& error, int http_status, bool cancelled = false) {
  return {make_error(id, error.code, error.message, error.data), cancelled, http_status};
}

}  // namespace

/// THE list of methods. `needs` is what must be registered for the method to exist.
struct Dispatcher::Method {
  enum class Needs { nothing, tools, resources, prompts, completers };
  const char* name;
  bool legacy, stateless;
  Needs needs;
  bool runs_handler;
  Handler handler;
};

const std::vector<Dispatcher::Method>& Dispatcher::methods() {
  using enum Method::Needs;
  static const std::vector<Method> kMethods = {
      {"server/discover", false, true, nothing, false, &Dispatcher::discover},
      {"initialize", true, false, nothing, false, &Dispatcher::initialize},
      {"ping", true, false, nothing, false, &Dispatcher::ping},
      {"tools/list", true, true, tools, false, &Dispatcher::list_tools},
      {"tools/call", true, true, tools, true, &Dispatcher::call_tool},
      {"resources/list", true, true, resources, false, &Dispatcher::list_resources},
      {"resources/templates/list", true, true, resources, false, &Dispatcher::list_templates},
      {"resources/read", true, true, resources, true, &Dispatcher::read_resource},
      {"prompts/list", true, true, prompts, false, &Dispatcher::list_prompts},
      {"prompts/get", true, true, prompts, true, &Dispatcher::get_prompt},
      {"completion/complete", true, true, completers, true, &Dispatcher::complete},
  };
  return kMethods;
}

Dispatcher::Dispatcher(ServerInfo info, const ServerLimits& limits) : info_(std::move(info)), limits_(limits), implementation_(describe(info_)) {}

bool Dispatcher::is_stateless(const Message& message) {
  if (message.method == "server/discover") return true;
  const json* meta = meta_of(message);
  return meta != nullptr && (meta->contains(kMetaVersion) || meta->contains(kMetaClientCapabilities));
}

bool Dispatcher::runs_handler(const Message& message) {
  if (message.kind != Message::Kind::request) return false;
  for (const Method& method : methods()) {
    if (message.method == method.name) return method.runs_handler;
  }
  return false;
}

bool Dispatcher::reaches_tool(const Message& message, bool stateless) const {
  if (message.kind != Message::Kind::request || message.method != "tools/call" || (stateless && check_stateless_meta(message))) return false;
  const auto name = message.params.find("name");
  return name != message.params.end() && name->is_string() && tools_.has(*name);
}

Outcome Dispatcher::handle(const Message& message, const Exchange& exchange) {
  switch (message.kind) {
    case Message::Kind::response: return {};  // this server sends no requests, so nobody waits for it
    case Message::Kind::notification: notification(message, exchange); return {};
    case Message::Kind::request: break;
  }
  Request request{message, exchange, exchange.stateless || is_stateless(message)};
  if (request.stateless) {
    if (const auto problem = check_stateless_meta(message)) return error_outcome(message.id, *problem, http_status_of(problem->code, true));
  }
  Rpc<json> result = route(request);
  if (!result) {
    return error_outcome(message.id, result.error(), request.stateless ? http_status_of(result.error().code, false) : 200, request.cancelled);
  }
  if (request.stateless) {
    (*result)["resultType"] = "complete";
    (*result)["_meta"][kMetaServerInfo] = implementation_;
  }
  return {make_result(message.id, std::move(*result)), request.cancelled, 200};
}

bool Dispatcher::offers(const Method& method) const {
  switch (method.needs) {
    case Method::Needs::nothing: return true;
    case Method::Needs::tools: return !tools_.list().empty();
    case Method::Needs::resources: return !resources_.empty();
    case Method::Needs::prompts: return !prompts_.empty();
    case Method::Needs::completers: return prompts_.completes() || resources_.completes();
  }
  return false;
}

Rpc<json> Dispatcher::route(Request& request) {
  std::string valid;
  for (const Method& method : methods()) {
    if (!(request.stateless ? method.stateless : method.legacy) || !offers(method)) continue;
    if (request.message.method == method.name) return (this->*method.handler)(request);
    valid.append(valid.empty() ? "" : ", ").append(method.name);
  }
  return refuse_rpc(kMethodNotFound, "unknown method '" + request.message.method + "'; valid: " + valid);
}

json Dispatcher::capabilities() const {
  json out = json::object();
  if (!tools_.list().empty()) out["tools"] = json::object();
  if (!resources_.empty()) out["resources"] = json::object();
  if (!prompts_.empty()) out["prompts"] = json::object();
  if (prompts_.completes() || resources_.completes()) out["completions"] = json::object();
  return out;
}

json Dispatcher::cacheable(json result, bool stateless) const {
  if (!stateless) return result;
  result["ttlMs"] = kListTtlMs;
  result["cacheScope"] = "public";
  return result;
}

Rpc<json> Dispatcher::page(const json& all, const char* key, const Request& request) const {
  return list_page(all, key, request.message.params, limits_.page_size).map([&](json result) { return cacheable(std::move(result), request.stateless); });
}

Rpc<json> Dispatcher::discover(Request& request) {
  json result = {{"supportedVersions", supported_versions()}, {"capabilities", capabilities()}};
  if (!info_.instructions.empty()) result["instructions"] = info_.instructions;
  return cacheable(std::move(result), request.stateless);
}

Rpc<json> Dispatcher::initialize(Request& request) {
  const json& params = request.message.params;
  const auto asked = params.find("protocolVersion");
  if (asked == params.end() || !asked->is_string()) return refuse_rpc(kInvalidParams, "params.protocolVersion must be a string, such as \"2025-11-25\"");
  const std::string version = is_legacy_version(asked->get<std::string>()) ? asked->get<std::string>() : std::string(kLegacyVersions.front());
  json result = {{"protocolVersion", version}, {"capabilities", capabilities()}, {"serverInfo", implementation_}};
  if (!info_.instructions.empty()) result["instructions"] = info_.instructions;
  return result;
}

Rpc<json> Dispatcher::ping(Request&) { return json::object(); }

Rpc<json> Dispatcher::list_tools(Request& request) { return page(tools_.list(), "tools", request); }
Rpc<json> Dispatcher::list_resources(Request& request) { return page(resources_.resources(), "resources", request); }
Rpc<json> Dispatcher::list_templates(Request& request) { return page(resources_.templates(), "resourceTemplates", request); }
Rpc<json> Dispatcher::list_prompts(Request& request) { return page(prompts_.list(), "prompts", request); }

Rpc<json> Dispatcher::call_tool(Request& request) {
  const json& params = request.message.params;
  const auto name = params.find("name");
  if (name == params.end() || !name->is_string()) return refuse_rpc(kInvalidParams, "params.name must be a string; valid: " + tools_.names());
  if (!tools_.has(*name)) return refuse_rpc(kInvalidParams, "Unknown tool: '" + name->get<std::string>() + "'; valid: " + tools_.names());
  json arguments = params.value("arguments", json(nullptr));
  if (arguments.is_null()) arguments = json::object();
  if (!arguments.is_object()) return refuse_rpc(kInvalidParams, "params.arguments must be an object");
  CallScope call(request.message, request.exchange, in_flight_, request.stateless);
  auto result = tools_.call(*name, std::move(arguments), call.context());
  call.close();
  request.cancelled = call.cancelled();
  if (!result) return refuse_rpc(kInternalError, result.error().message);
  return std::move(*result);
}

Rpc<json> Dispatcher::read_resource(Request& request) {
  CallScope call(request.message, request.exchange, in_flight_, request.stateless);
  Rpc<json> result = resources_.read(request.message.params, call.context());
  call.close();
  request.cancelled = call.cancelled();
  if (!result && result.error().code == kResourceNotFound && request.stateless) result.error().code = kInvalidParams;
  if (result && !request.stateless) {
    result->erase("ttlMs");
    result->erase("cacheScope");
  }
  return result;
}

Rpc<json> Dispatcher::get_prompt(Request& request) {
  CallScope call(request.message, request.exchange, in_flight_, request.stateless);
  Rpc<json> result = prompts_.get(request.message.params, call.context());
  call.close();
  request.cancelled = call.cancelled();
  return result;
}

Rpc<json> Dispatcher::complete(Request& request) { return complete_value(request.message.params, prompts_, resources_); }

void Dispatcher::notification(const Message& message, const Exchange& exchange) {
  if (message.method != "notifications/cancelled") return;  // notifications/initialized and others ask for nothing
  const auto id = message.params.find("requestId");
  if (id != message.params.end()) in_flight_.cancel(exchange.scope, *id);
}

}  // namespace assay::mcp
