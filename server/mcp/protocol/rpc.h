// Rpc<T>: a value, or the JSON-RPC error that a client gets instead.
//
//   Rpc<json> list(...) { return refuse_rpc(kInvalidParams, "params.cursor must be a string"); }
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <tl/expected.hpp>

#include "base/result.h"
#include "server/mcp/protocol/protocol.h"

namespace assay::mcp {

struct RpcError {
  int code = kInternalError;
  std::string message;
  nlohmann::json data = nullptr;
};

template <class T>
using Rpc = tl::expected<T, RpcError>;

inline tl::unexpected<RpcError> refuse_rpc(int code, std::string message,
                                           nlohmann::json data = nullptr) {
  return tl::unexpected<RpcError>(RpcError{code, std::move(message), std::move(data)});
}

/// A handler's Error, told to the client: what it asked for was wrong, or this server failed.
inline tl::unexpected<RpcError> refuse_rpc(const Error& error) {
  const bool asked_wrongly = error.code == ErrorCode::invalid_argument ||
                             error.code == ErrorCode::not_found ||
                             error.code == ErrorCode::permission_denied;
  return refuse_rpc(asked_wrongly ? kInvalidParams : kInternalError, error.message);
}

}  // namespace assay::mcp
