#include "server/mcp/core/input.h"

namespace assay::mcp {
namespace {

using nlohmann::json;

/// The client capability behind a method; null for a method that no client serves.
const char* capability_of(const std::string& method) {
  if (method == "elicitation/create") return "elicitation";
  if (method == "sampling/createMessage") return "sampling";
  if (method == "roots/list") return "roots";
  return nullptr;
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

}  // namespace assay::mcp
