#include "server/mcp/protocol/jsonrpc.h"

#include <cstdint>

#include "base/json_depth.h"

namespace assay::mcp {
namespace {

using nlohmann::json;

constexpr std::size_t kMaxMethodBytes = 256;
constexpr const char* kBadId = "'id' must be a string, or an integer from -2^63 to 2^64 - 1";

/// Returns the id of `message`, or null when it has no valid id.
json id_of(const json& message) {
  const auto found = message.find("id");
  if (found == message.end()) return nullptr;
  return found->is_string() || found->is_number_integer() ? *found : json(nullptr);
}

tl::unexpected<json> refuse(const json& id, int code, const std::string& message) {
  return tl::unexpected<json>(make_error(id, code, message));
}

tl::expected<Message, json> check_response(const json& message) {
  const json id = id_of(message);
  const bool has_result = message.contains("result");
  const bool has_error = message.contains("error");
  if (has_result == has_error)
    return refuse(id, kInvalidRequest,
                  "a message needs a 'method', or exactly one of 'result' and 'error'");
  Message out;
  out.kind = Message::Kind::response;
  out.id = id;
  out.body = has_result ? json{{"result", message["result"]}} : json{{"error", message["error"]}};
  return out;
}

tl::expected<Message, json> check(json message) {
  if (message.is_array())
    return refuse(nullptr, kInvalidRequest,
                  "batches are not supported; send one message at a time");
  if (!message.is_object())
    return refuse(nullptr, kInvalidRequest, "a message must be a JSON object");
  const json id = id_of(message);
  const auto version = message.find("jsonrpc");
  if (version == message.end() || *version != "2.0")
    return refuse(id, kInvalidRequest, "'jsonrpc' must be \"2.0\"");
  if (message.contains("id") && id.is_null()) return refuse(nullptr, kInvalidRequest, kBadId);
  const auto method = message.find("method");
  if (method == message.end()) return check_response(message);
  if (!method->is_string() || method->get_ref<const std::string&>().empty() ||
      method->get_ref<const std::string&>().size() > kMaxMethodBytes) {
    return refuse(
        id, kInvalidRequest,
        "'method' must be a string of 1 to " + std::to_string(kMaxMethodBytes) + " bytes");
  }
  Message out;
  out.kind = id.is_null() ? Message::Kind::notification : Message::Kind::request;
  out.id = id;
  out.method = method->get<std::string>();
  if (const auto params = message.find("params"); params != message.end()) {
    if (!params->is_object()) return refuse(id, kInvalidRequest, "'params' must be an object");
    out.params = std::move(*params);
  }
  return out;
}

}  // namespace

tl::expected<Message, json> parse_message(std::string_view bytes, const MessageLimits& limits) {
  if (static_cast<std::int64_t>(bytes.size()) > limits.max_bytes) {
    return refuse(nullptr, kInvalidRequest,
                  "the message has " + std::to_string(bytes.size()) + " bytes; the limit is " +
                      std::to_string(limits.max_bytes));
  }
  if (deeper_than(bytes, limits.max_depth)) {
    return refuse(nullptr, kInvalidRequest,
                  "the message nests deeper than " + std::to_string(limits.max_depth) + " levels");
  }
  json message = json::parse(bytes, nullptr, /*allow_exceptions=*/false);
  if (message.is_discarded())
    return refuse(nullptr, kParseError, "the message is not valid JSON in UTF-8");
  return check(std::move(message));
}

json make_result(const json& id, json result) {
  return {{"jsonrpc", "2.0"}, {"id", id}, {"result", std::move(result)}};
}

json make_error(const json& id, int code, const std::string& message, json data) {
  json error = {{"code", code}, {"message", message}};
  if (!data.is_null()) error["data"] = std::move(data);
  json out = {{"jsonrpc", "2.0"}, {"error", std::move(error)}};
  if (!id.is_null()) out["id"] = id;
  return out;
}

json make_request(const json& id, const std::string& method, json params) {
  return {{"jsonrpc", "2.0"}, {"id", id}, {"method", method}, {"params", std::move(params)}};
}

json make_notification(const std::string& method, json params) {
  return {{"jsonrpc", "2.0"}, {"method", method}, {"params", std::move(params)}};
}

std::string dump(const json& message) { return json_text(message); }

}  // namespace assay::mcp
