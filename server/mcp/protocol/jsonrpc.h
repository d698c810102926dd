// Parses bytes into checked JSON-RPC 2.0 messages, and writes messages. The size and the nesting
// depth are checked before the JSON parser sees any byte. So hostile input costs one linear scan
// and no recursion.
//
//   const tl::expected<Message, nlohmann::json> parsed =
//       parse_message(R"({"jsonrpc":"2.0","id":1,"method":"ping"})");
//   if (!parsed) send(dump(parsed.error()));  // a complete JSON-RPC error response
//
// All functions are pure and thread-safe.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <tl/expected.hpp>

#include "base/json.h"
#include "base/result.h"
#include "server/mcp/protocol/protocol.h"

namespace assay::mcp {

struct MessageLimits {
  std::int64_t max_bytes = kMaxMessageBytes;
  int max_depth = 64;  // nesting of arrays and objects
};

struct Message {
  enum class Kind { request, notification, response };
  Kind kind = Kind::request;
  nlohmann::json id;   // string or integer; null for a notification, or if a response has no id
  std::string method;  // empty for a response
  nlohmann::json params = nlohmann::json::object();
  nlohmann::json body;  // only in a response: {"result": ...} or {"error": ...}
};

/// Parses a message. The error value is a complete JSON-RPC error response. Its code is -32700 when
/// the bytes are not JSON. It is -32600 when the bytes exceed a limit or the JSON is not a message.
/// The response has the id of the message if the id could be read.
tl::expected<Message, nlohmann::json> parse_message(std::string_view bytes,
                                                    const MessageLimits& limits = {});

/// The JSON-RPC error that a client receives instead of a result.
struct RpcError {
  int code = kInternalError;
  std::string message;
  nlohmann::json data = nullptr;
};

/// A value, or a JSON-RPC error.
template <class T>
using Rpc = tl::expected<T, RpcError>;

inline tl::unexpected<RpcError> refuse_rpc(int code, std::string message,
                                           nlohmann::json data = nullptr) {
  return tl::unexpected<RpcError>(RpcError{code, std::move(message), std::move(data)});
}

/// Returns the JSON-RPC error for an Error of a handler. The code of the JSON-RPC error says
/// whether the client made a mistake or this server failed.
inline tl::unexpected<RpcError> refuse_rpc(const Error& error) {
  const bool asked_wrongly = error.code == ErrorCode::invalid_argument ||
                             error.code == ErrorCode::not_found ||
                             error.code == ErrorCode::permission_denied;
  return refuse_rpc(asked_wrongly ? kInvalidParams : kInternalError, error.message);
}

nlohmann::json make_result(const nlohmann::json& id, nlohmann::json result);
/// Returns an error response. Omits `id` if it is null, because MCP does not allow null as an id.
/// Omits `data` if it is null.
nlohmann::json make_error(const nlohmann::json& id, int code, const std::string& message,
                          nlohmann::json data = nullptr);
nlohmann::json make_request(const nlohmann::json& id, const std::string& method,
                            nlohmann::json params);
nlohmann::json make_notification(const std::string& method, nlohmann::json params);

/// Returns `message` as one line of UTF-8 without line breaks. Bytes that are not UTF-8 become
/// U+FFFD, because a tool's result may contain the output of any program.
std::string dump(const nlohmann::json& message);

}  // namespace assay::mcp
