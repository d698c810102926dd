#include "server/mcp/core/input.h"

#include "server/mcp/protocol/jsonrpc.h"

namespace assay::mcp {
namespace {

using nlohmann::json;

/// Returns the capability that a client must declare so that the server may call `method` of the
/// client. Returns null if MCP has no such method of clients.
const char* capability_of(const std::string& method) {
  if (method == "elicitation/create") return "elicitation";
  if (method == "sampling/createMessage") return "sampling";
  if (method == "roots/list") return "roots";
  return nullptr;
}

Result<json> result_of(const std::string& method, const json& body) {
  if (body.contains("result")) return body["result"];
  const json& error = body["error"];
  const std::string text = error.is_object() ? error.value("message", "") : "";
  return fail(ErrorCode::unavailable, "the client refused " + method + ": " + text);
}

}  // namespace

json to_json(const std::map<std::string, InputRequest>& requests) {
  json out = json::object();
  for (const auto& [key, request] : requests)
    out[key] = {{"method", request.method}, {"params", request.params}};
  return out;
}

std::optional<RpcError> missing_capability(const std::map<std::string, InputRequest>& requests,
                                           const json& client_capabilities) {
  json required = json::object();
  std::string names;
  for (const auto& [key, request] : requests) {
    const char* capability = capability_of(request.method);
    if (capability == nullptr)
      return RpcError{kInternalError, "a handler asks the client for '" + request.method +
                                          "', which no client serves"};
    if (client_capabilities.contains(capability) || required.contains(capability)) continue;
    required[capability] = json::object();
    names.append(names.empty() ? "" : ", ").append(capability);
  }
  if (required.empty()) return std::nullopt;
  return RpcError{kMissingCapability,
                  "Missing required client capability: " + names,
                  {{"requiredCapabilities", std::move(required)}}};
}

Result<json> ServerRequests::ask(const std::string& method, const json& params, const Send& send,
                                 std::stop_token stop, std::chrono::milliseconds timeout) {
  const std::int64_t until_ns = clock_.monotonic_ns() + std::chrono::nanoseconds(timeout).count();
  std::string id;
  {
    const MutexLock lock(mutex_);
    id = "server-" + std::to_string(next_++);
    waiting_[id] = std::nullopt;
  }
  send(make_request(id, method, params));
  MutexLock lock(mutex_);
  clock_.wait_until(arrived_, lock, stop, until_ns,
                    [&]() ASSAY_REQUIRES(mutex_) { return waiting_[id].has_value(); });
  const std::optional<json> body = std::move(waiting_[id]);
  waiting_.erase(id);
  if (body) return result_of(method, *body);
  if (stop.stop_requested())
    return fail(ErrorCode::cancelled,
                "the call was cancelled while it waited for the client's answer to " + method);
  return fail(ErrorCode::unavailable, "the client did not answer " + method + " within " +
                                          std::to_string(timeout.count()) + " ms");
}

bool ServerRequests::deliver(const json& id, json body) {
  if (!id.is_string()) return false;
  {
    const MutexLock lock(mutex_);
    const auto found = waiting_.find(id.get<std::string>());
    if (found == waiting_.end() || found->second) return false;
    found->second = std::move(body);
  }
  arrived_.notify_all();
  return true;
}

}  // namespace assay::mcp
