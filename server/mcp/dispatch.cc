#include "server/mcp/dispatch.h"

#include "server/mcp/progress.h"
#include "server/mcp/protocol.h"

namespace assay::mcp {
namespace {

using nlohmann::json;

constexpr int kHttpBadRequest = 400;
constexpr int kHttpNotFound = 404;

const json* meta_of(const Message& message) {
  const auto meta = message.params.find("_meta");
  return meta != message.params.end() && meta->is_object() ? &*meta : nullptr;
}

Outcome answer(const Message& message, json result) { return {make_result(message.id, std::move(result)), false, 200}; }

Outcome refuse(const Message& message, int code, const std::string& text, int http_status = 200, json data = nullptr) {
  return {make_error(message.id, code, text, std::move(data)), false, http_status};
}

json supported_versions() {
  json versions = json::array({kStatelessVersion});
  for (const std::string_view version : kLegacyVersions) versions.push_back(version);
  return versions;
}

/// The token of an opted-in request; null otherwise.
json progress_token(const Message& message) {
  const json* meta = meta_of(message);
  if (meta == nullptr) return nullptr;
  const auto token = meta->find(kMetaProgressToken);
  return token != meta->end() && (token->is_string() || token->is_number_integer()) ? *token : json(nullptr);
}

/// An empty optional when the request's _meta is fit for the stateless era.
std::optional<Outcome> check_meta(const Message& message) {
  const json* meta = meta_of(message);
  const auto missing = [&](const char* key, const char* type) {
    return refuse(message, kInvalidParams,
                  std::string("params._meta must carry '") + key + "' (" + type + ") in every request of revision " + std::string(kStatelessVersion) +
                      "; clients of older revisions open with 'initialize'",
                  kHttpBadRequest);
  };
  if (meta == nullptr || !meta->contains(kMetaVersion) || !(*meta)[kMetaVersion].is_string()) return missing(kMetaVersion, "a string");
  const std::string version = (*meta)[kMetaVersion];
  if (version != kStatelessVersion) {
    return refuse(message, kUnsupportedVersion, "Unsupported protocol version", kHttpBadRequest, {{"supported", supported_versions()}, {"requested", version}});
  }
  if (!meta->contains(kMetaClientCapabilities) || !(*meta)[kMetaClientCapabilities].is_object()) return missing(kMetaClientCapabilities, "an object");
  return std::nullopt;
}

}  // namespace

Dispatcher::Dispatcher(ServerInfo info) : info_(std::move(info)) {}

bool Dispatcher::is_stateless(const Message& message) {
  if (message.method == "server/discover") return true;
  const json* meta = meta_of(message);
  return meta != nullptr && (meta->contains(kMetaVersion) || meta->contains(kMetaClientCapabilities));
}

bool Dispatcher::reaches_tool(const Message& message, bool stateless) const {
  if (message.kind != Message::Kind::request || message.method != "tools/call" || (stateless && check_meta(message))) return false;
  const auto name = message.params.find("name");
  return name != message.params.end() && name->is_string() && tools_.has(*name);
}

Outcome Dispatcher::handle(const Message& message, const Exchange& exchange) {
  switch (message.kind) {
    case Message::Kind::response: return {};  // this server sends no requests, so nobody waits for it
    case Message::Kind::notification: notification(message, exchange); return {};
    case Message::Kind::request: break;
  }
  return exchange.stateless || is_stateless(message) ? stateless(message, exchange) : legacy(message, exchange);
}

Outcome Dispatcher::stateless(const Message& message, const Exchange& exchange) {
  if (auto problem = check_meta(message)) return *problem;
  if (message.method == "server/discover") {
    json result = {{"supportedVersions", supported_versions()}, {"capabilities", {{"tools", json::object()}}}, {"ttlMs", kListTtlMs}, {"cacheScope", "public"}};
    if (!info_.instructions.empty()) result["instructions"] = info_.instructions;
    return answer(message, complete(std::move(result)));
  }
  if (message.method == "tools/list") return list_tools(message, true);
  if (message.method == "tools/call") return call_tool(message, exchange, true);
  return refuse(message, kMethodNotFound, "unknown method '" + message.method + "'; valid: server/discover, tools/list, tools/call", kHttpNotFound);
}

Outcome Dispatcher::legacy(const Message& message, const Exchange& exchange) {
  if (message.method == "initialize") return initialize(message);
  if (message.method == "ping") return answer(message, json::object());
  if (message.method == "tools/list") return list_tools(message, false);
  if (message.method == "tools/call") return call_tool(message, exchange, false);
  return refuse(message, kMethodNotFound, "unknown method '" + message.method + "'; valid: initialize, ping, tools/list, tools/call");
}

Outcome Dispatcher::initialize(const Message& message) const {
  const auto asked = message.params.find("protocolVersion");
  if (asked == message.params.end() || !asked->is_string())
    return refuse(message, kInvalidParams, "params.protocolVersion must be a string, such as \"2025-11-25\"");
  const std::string version = is_legacy_version(asked->get<std::string>()) ? asked->get<std::string>() : std::string(kLegacyVersions.front());
  json result = {{"protocolVersion", version}, {"capabilities", {{"tools", json::object()}}}, {"serverInfo", implementation()}};
  if (!info_.instructions.empty()) result["instructions"] = info_.instructions;
  return answer(message, std::move(result));
}

Outcome Dispatcher::list_tools(const Message& message, bool stateless) const {
  if (const auto cursor = message.params.find("cursor"); cursor != message.params.end() && !cursor->is_null()) {
    return refuse(message, kInvalidParams, "unknown cursor; all tools are on the first page, so ask without one");
  }
  json result = {{"tools", tools_.list()}};
  if (!stateless) return answer(message, std::move(result));
  result["ttlMs"] = kListTtlMs;
  result["cacheScope"] = "public";
  return answer(message, complete(std::move(result)));
}

Outcome Dispatcher::call_tool(const Message& message, const Exchange& exchange, bool stateless) {
  const auto name = message.params.find("name");
  if (name == message.params.end() || !name->is_string()) return refuse(message, kInvalidParams, "params.name must be a string; valid: " + tools_.names());
  if (!tools_.has(*name)) return refuse(message, kInvalidParams, "Unknown tool: '" + name->get<std::string>() + "'; valid: " + tools_.names());
  json arguments = message.params.value("arguments", json(nullptr));
  if (arguments.is_null()) arguments = json::object();
  if (!arguments.is_object()) return refuse(message, kInvalidParams, "params.arguments must be an object");

  std::optional<InFlight::Ticket> own;
  if (exchange.ticket == nullptr) own.emplace(in_flight_.open(exchange.scope, message.id));
  const InFlight::Ticket& ticket = own ? *own : *exchange.ticket;
  ProgressGate gate(progress_token(message), exchange.notify);
  RequestContext context;
  context.progress = [&gate](double progress, double total, const std::string& text) { gate.report(progress, total, text); };
  context.cancelled = [&] { return ticket.cancelled() || (stateless && exchange.hung_up && exchange.hung_up()); };
  auto result = tools_.call(*name, std::move(arguments), context);
  gate.close();
  Outcome out =
      result ? answer(message, stateless ? complete(std::move(*result)) : std::move(*result)) : refuse(message, kInternalError, result.error().message);
  out.cancelled = ticket.cancelled();
  return out;
}

void Dispatcher::notification(const Message& message, const Exchange& exchange) {
  if (message.method != "notifications/cancelled") return;  // notifications/initialized and others ask for nothing
  const auto id = message.params.find("requestId");
  if (id != message.params.end()) in_flight_.cancel(exchange.scope, *id);
}

json Dispatcher::complete(json result) const {
  result["resultType"] = "complete";
  result["_meta"][kMetaServerInfo] = implementation();
  return result;
}

json Dispatcher::implementation() const {
  json out = {{"name", info_.name}, {"version", info_.version}};
  if (!info_.title.empty()) out["title"] = info_.title;
  return out;
}

}  // namespace assay::mcp
