// The members of `params` that many methods share: _meta, where the stateless era keeps what a
// session used to keep (version, capabilities, progress token), and the cursor of a list.
//
//   const RequestMeta meta = read_meta(message);
//   const Rpc<nlohmann::json> page = list_page(all, "tools", message.params, 100);
//   if (page) show((*page)["tools"]);  // and "nextCursor" when there are more
//
// Pure functions, thread-safe.
#pragma once

#include <cstddef>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "server/mcp/protocol/jsonrpc.h"
#include "server/mcp/protocol/protocol.h"

namespace assay::mcp {

/// The params._meta of a request. A malformed entry counts as missing, except a log level.
struct RequestMeta {
  /// The request has a protocol version or client capabilities. Only the stateless era sends them.
  bool names_era = false;
  bool names_progress_token = false, names_log_level = false;  // true for malformed ones too
  nlohmann::json progress_token = nullptr;                     // null: no progress
  /// The capabilities of the client, which a stateless request declares.
  nlohmann::json client_capabilities = nlohmann::json::object();
  /// The lowest level of the log messages that the request wants. Empty if it wants none; an error
  /// if the level is unknown.
  Rpc<std::optional<LogLevel>> log_level = std::optional<LogLevel>();

  /// True when the client's capabilities have the extension `name`.
  bool declares_extension(const char* name) const;
};
RequestMeta read_meta(const Message& message);

/// All revisions that this server speaks, newest first.
nlohmann::json supported_versions();

/// Checks the _meta that a stateless request must have. Returns the refusal, or nothing.
std::optional<RpcError> check_stateless_meta(const Message& message);

/// Returns the page of `all` that params.cursor names, or the first page. `all` must not change
/// while the server runs. `key` is the name of the list in the result. A cursor is opaque to
/// clients and names its list, so a cursor of another list, or one that this server did not make,
/// is refused.
Rpc<nlohmann::json> list_page(const nlohmann::json& all, const std::string& key,
                              const nlohmann::json& params, std::size_t page_size);

}  // namespace assay::mcp
