#include "server/mcp/protocol/meta.h"

namespace assay::mcp {

using nlohmann::json;

const json* meta_of(const Message& message) {
  const auto meta = message.params.find("_meta");
  return meta != message.params.end() && meta->is_object() ? &*meta : nullptr;
}

json progress_token(const Message& message) {
  const json* meta = meta_of(message);
  if (meta == nullptr) return nullptr;
  const auto token = meta->find(kMetaProgressToken);
  return token != meta->end() && (token->is_string() || token->is_number_integer()) ? *token
                                                                                    : json(nullptr);
}

json client_capabilities(const Message& message) {
  const json* meta = meta_of(message);
  if (meta == nullptr) return json::object();
  const auto found = meta->find(kMetaClientCapabilities);
  return found != meta->end() && found->is_object() ? *found : json::object();
}

bool declares_extension(const Message& message, const char* name) {
  const json* meta = meta_of(message);
  if (meta == nullptr) return false;
  const auto capabilities = meta->find(kMetaClientCapabilities);
  if (capabilities == meta->end() || !capabilities->is_object()) return false;
  const auto extensions = capabilities->find("extensions");
  return extensions != capabilities->end() && extensions->is_object() && extensions->contains(name);
}

Rpc<std::optional<LogLevel>> requested_log_level(const Message& message) {
  const json* meta = meta_of(message);
  if (meta == nullptr) return std::nullopt;
  const auto found = meta->find(kMetaLogLevel);
  if (found == meta->end()) return std::nullopt;
  const auto level =
      found->is_string() ? log_level_from(found->get_ref<const std::string&>()) : std::nullopt;
  if (!level)
    return refuse_rpc(kInvalidParams, std::string("params._meta['") + kMetaLogLevel +
                                          "'] must be one of " + kValidLogLevels);
  return level;
}

json supported_versions() {
  json versions = json::array({kStatelessVersion});
  for (const std::string_view version : kLegacyVersions) versions.push_back(version);
  return versions;
}

std::optional<RpcError> check_stateless_meta(const Message& message) {
  const json* meta = meta_of(message);
  const auto missing = [&](const char* key, const char* type) {
    return RpcError{kInvalidParams, std::string("params._meta must carry '") + key + "' (" + type +
                                        ") in every request of revision " +
                                        std::string(kStatelessVersion) +
                                        "; clients of older revisions open with 'initialize'"};
  };
  if (meta == nullptr || !meta->contains(kMetaVersion) || !(*meta)[kMetaVersion].is_string())
    return missing(kMetaVersion, "a string");
  const std::string version = (*meta)[kMetaVersion];
  if (version != kStatelessVersion) {
    return RpcError{kUnsupportedVersion,
                    "Unsupported protocol version",
                    {{"supported", supported_versions()}, {"requested", version}}};
  }
  if (!meta->contains(kMetaClientCapabilities) || !(*meta)[kMetaClientCapabilities].is_object())
    return missing(kMetaClientCapabilities, "an object");
  return std::nullopt;
}

}  // namespace assay::mcp
