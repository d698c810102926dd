#include "server/mcp/protocol/meta.h"

namespace assay::mcp {

using nlohmann::json;

namespace {

const json* meta_of(const Message& message) {
  const auto meta = message.params.find("_meta");
  return meta != message.params.end() && meta->is_object() ? &*meta : nullptr;
}

Rpc<std::optional<LogLevel>> log_level_of(const json& value) {
  const auto level =
      value.is_string() ? log_level_from(value.get_ref<const std::string&>()) : std::nullopt;
  if (!level)
    return refuse_rpc(kInvalidParams, std::string("params._meta['") + kMetaLogLevel +
                                          "'] must be one of " + kValidLogLevels);
  return level;
}

}  // namespace

RequestMeta read_meta(const Message& message) {
  RequestMeta out;
  const json* meta = meta_of(message);
  if (meta == nullptr) return out;
  const auto capabilities = meta->find(kMetaClientCapabilities);
  out.names_era = capabilities != meta->end() || meta->contains(kMetaVersion);
  if (capabilities != meta->end() && capabilities->is_object())
    out.client_capabilities = *capabilities;
  if (const auto token = meta->find(kMetaProgressToken); token != meta->end()) {
    out.names_progress_token = true;
    if (token->is_string() || token->is_number_integer()) out.progress_token = *token;
  }
  if (const auto level = meta->find(kMetaLogLevel); level != meta->end()) {
    out.names_log_level = true;
    out.log_level = log_level_of(*level);
  }
  return out;
}

bool RequestMeta::declares_extension(const char* name) const {
  const auto extensions = client_capabilities.find("extensions");
  return extensions != client_capabilities.end() && extensions->is_object() &&
         extensions->contains(name);
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
