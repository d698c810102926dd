#include "server/mcp/protocol/params.h"

#include <algorithm>
#include <optional>

#include "base/base64.h"

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

using nlohmann::json;

constexpr std::size_t kMaxDigits = 9;

std::string cursor_at(const std::string& key, std::size_t offset) {
  return base64_encode(key + ":" + std::to_string(offset));
}

/// Returns the offset in the list that a cursor encodes. Returns nothing if this server did not
/// create the cursor, or created it for a different list.
std::optional<std::size_t> offset_of(const std::string& cursor, const std::string& key,
                                     std::size_t size, std::size_t page_size) {
  const auto text = base64_decode(cursor);
  if (!text || text->compare(0, key.size() + 1, key + ":") != 0) return std::nullopt;
  const std::string digits = text->substr(key.size() + 1);
  if (digits.empty() || digits.size() > kMaxDigits ||
      digits.find_first_not_of("0123456789") != std::string::npos)
    return std::nullopt;
  const std::size_t offset = std::stoul(digits);
  if (offset == 0 || offset >= size || offset % page_size != 0 || cursor_at(key, offset) != cursor)
    return std::nullopt;
  return offset;
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
  if (const auto trace = meta->find(kMetaTraceParent); trace != meta->end() && trace->is_string())
    out.traceparent = *trace;
  if (const auto level = meta->find(kMetaLogLevel); level != meta->end()) {
    out.names_log_level = true;
    out.log_level = log_level_of(*level);
  }
  return out;
}

std::optional<RpcError> check_meta(const Message& message) {
  const auto meta = message.params.find("_meta");
  if (meta == message.params.end()) return std::nullopt;
  if (!meta->is_object()) return RpcError{kInvalidParams, "params._meta must be an object"};
  const auto token = meta->find(kMetaProgressToken);
  if (token == meta->end() || token->is_string() || token->is_number_integer()) return std::nullopt;
  return RpcError{kInvalidParams, std::string("params._meta.") + kMetaProgressToken +
                                      " must be a string or an integer"};
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

Rpc<json> list_page(const json& all, const std::string& key, const json& params,
                    std::size_t page_size) {
  std::size_t begin = 0;
  if (const auto cursor = params.find("cursor"); cursor != params.end() && !cursor->is_null()) {
    const auto offset = cursor->is_string()
                            ? offset_of(cursor->get<std::string>(), key, all.size(), page_size)
                            : std::nullopt;
    if (!offset)
      return refuse_rpc(
          kInvalidParams,
          "params.cursor is not a cursor of this list; send a nextCursor unchanged, or "
          "leave it out");
    begin = *offset;
  }
  if (begin == 0 && all.size() <= page_size) return json{{key, all}};
  const std::size_t end = std::min(all.size(), begin + page_size);
  json page = {{key, json::array()}};
  for (std::size_t i = begin; i < end; ++i) page[key].push_back(all[i]);
  if (end < all.size()) page["nextCursor"] = cursor_at(key, end);
  return page;
}

}  // namespace assay::mcp
