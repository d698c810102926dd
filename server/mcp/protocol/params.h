// Reading params._meta, where the stateless era keeps what used to be a session's: version,
// capabilities, progress token. Pure functions, thread-safe.
//
// One page of a list that never changes while the server runs. A cursor is opaque to clients, names
// its list, and is checked when it comes back.
//
//   auto page = list_page(all, "tools", params, 100);      // {"tools": [...], "nextCursor": "..."}
//
// Pure, thread-safe.
#pragma once

#include <cstddef>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "server/mcp/protocol/jsonrpc.h"
#include "server/mcp/protocol/protocol.h"

namespace assay::mcp {

/// What a request's params._meta says, read once. Malformed entries count as missing, except a log
/// level.
struct RequestMeta {
  /// The request names a protocol version or client capabilities, as only the stateless era does.
  bool names_era = false;
  bool names_progress_token = false, names_log_level = false;  // malformed ones too
  nlohmann::json progress_token = nullptr;                     // null: the client wants no progress
  /// The client's capabilities that this request declares (stateless era).
  nlohmann::json client_capabilities = nlohmann::json::object();
  /// The level from which on this request wants log messages. Nothing when it wants none, an error
  /// when it names no level.
  Rpc<std::optional<LogLevel>> log_level = std::optional<LogLevel>();

  /// The request declares the extension `name` among its client's capabilities.
  bool declares_extension(const char* name) const;
};
RequestMeta read_meta(const Message& message);

/// Every revision that this server speaks, newest first.
nlohmann::json supported_versions();

/// Why the request's _meta does not do for the stateless era; nothing when it does.
std::optional<RpcError> check_stateless_meta(const Message& message);

/// `key` is the list's name in the result. A cursor of another list, or one that this server did
/// not make, is refused.
Rpc<nlohmann::json> list_page(const nlohmann::json& all, const std::string& key,
                              const nlohmann::json& params, std::size_t page_size);

}  // namespace assay::mcp
