// Reading params._meta, where the stateless era keeps what used to be a session's: version,
// capabilities, progress token. Pure functions, thread-safe.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>

#include "server/mcp/protocol/jsonrpc.h"
#include "server/mcp/protocol/log_level.h"
#include "server/mcp/protocol/rpc.h"

namespace assay::mcp {

/// params._meta, or null when there is none.
const nlohmann::json* meta_of(const Message& message);

/// The token of an opted-in request; null otherwise.
nlohmann::json progress_token(const Message& message);

/// The client's capabilities that this request declares (stateless era); an empty object when there
/// are none.
nlohmann::json client_capabilities(const Message& message);

/// The request declares the extension `name` among its client's capabilities.
bool declares_extension(const Message& message, const char* name);

/// The level from which on this request wants log messages: nothing when it wants none, an error
/// when it names no level.
Rpc<std::optional<LogLevel>> requested_log_level(const Message& message);

/// Every revision that this server speaks, newest first.
nlohmann::json supported_versions();

/// What keeps the request's _meta from being fit for the stateless era; nothing when it is.
std::optional<RpcError> check_stateless_meta(const Message& message);

}  // namespace assay::mcp
