// JSON-RPC 2.0 messages: bytes to a checked Message, and back. Size and depth are capped before the
// parser sees a byte, so hostile input costs one linear scan and no recursion. All functions are
// pure and thread-safe.
//
//   auto parsed = parse_message(line);
//   if (!parsed) write(dump(parsed.error()));      // a complete JSON-RPC error response
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <tl/expected.hpp>

#include "base/result.h"
#include "server/mcp/protocol/protocol.h"

namespace assay::mcp {

struct MessageLimits {
  std::int64_t max_bytes = kMaxMessageBytes;
  int max_depth = 64;  // nested arrays and objects
};

struct Message {
  enum class Kind { request, notification, response };
  Kind kind = Kind::request;
  nlohmann::json id;   // string or integer; null for a notification
  std::string method;  // empty for a response
  nlohmann::json params = nlohmann::json::object();
  nlohmann::json body;  // a response: {"result": ...} or {"error": ...}
};

/// The error is a JSON-RPC error response, ready to be sent: -32700 for what is no JSON, -32600 for
/// what is no message. It carries the id where one could be read, and no id otherwise.
tl::expected<Message, nlohmann::json> parse_message(std::string_view bytes,
                                                    const MessageLimits& limits = {});

/// True when brackets nest deeper than `max_depth`. A linear scan that respects strings; says
/// nothing about well-formedness.
bool deeper_than(std::string_view bytes, int max_depth);

/// The JSON-RPC error that a client gets instead of a result.
struct RpcError {
  int code = kInternalError;
  std::string message;
  nlohmann::json data = nullptr;
};

/// A value, or the JSON-RPC error:
///
///   Rpc<json> list(...) { return refuse_rpc(kInvalidParams, "params.cursor must be a string"); }
template <class T>
using Rpc = tl::expected<T, RpcError>;

inline tl::unexpected<RpcError> refuse_rpc(int code, std::string message,
                                           nlohmann::json data = nullptr) {
  return tl::unexpected<RpcError>(RpcError{code, std::move(message), std::move(data)});
}

/// The JSON-RPC error for a handler's Error: the client's mistake, or a failure of this server.
inline tl::unexpected<RpcError> refuse_rpc(const Error& error) {
  const bool asked_wrongly = error.code == ErrorCode::invalid_argument ||
                             error.code == ErrorCode::not_found ||
                             error.code == ErrorCode::permission_denied;
  return refuse_rpc(asked_wrongly ? kInvalidParams : kInternalError, error.message);
}

nlohmann::json make_result(const nlohmann::json& id, nlohmann::json result);
/// A null `id` is left out: MCP allows no null id. A null `data` is left out as well.
nlohmann::json make_error(const nlohmann::json& id, int code, const std::string& message,
                          nlohmann::json data = nullptr);
nlohmann::json make_request(const nlohmann::json& id, const std::string& method,
                            nlohmann::json params);
nlohmann::json make_notification(const std::string& method, nlohmann::json params);

/// One line of UTF-8 without line breaks; bytes that are no UTF-8 become U+FFFD (a tool may pass on
/// what a program printed).
std::string dump(const nlohmann::json& message);

}  // namespace assay::mcp
