// Reads two members of `params` that many methods share: `_meta` and the cursor of a list. In the
// stateless era, `_meta` contains what a session contains in the legacy (session-based) era:
// version, capabilities, progress token.
//
//   const RequestMeta meta = read_meta(message);
//   const Rpc<nlohmann::json> page = list_page(all, "tools", message.params, 100);
//   if (page) show((*page)["tools"]);  // has "nextCursor" too if there are more
//
// Pure functions, thread-safe.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "base/json.h"
#include "server/mcp/protocol/jsonrpc.h"
#include "server/mcp/protocol/protocol.h"

namespace assay::mcp {

/// The params._meta of a request. A malformed member counts as missing. Only a malformed log level
/// is an error.
struct RequestMeta {
  /// True if _meta has a protocol version or client capabilities. Only stateless requests have
  /// these members.
  bool names_era = false;
  /// True if _meta has the member of this name, even if the member's value is malformed.
  bool names_progress_token = false, names_log_level = false;
  nlohmann::json progress_token = nullptr;  // null: do not report progress
  /// The capabilities of the client. A stateless request declares them.
  nlohmann::json client_capabilities = nlohmann::json::object();
  std::string traceparent = {};  // the caller's place in a trace, unchecked; empty: none
  /// The lowest level of the log messages that the client wants for this request. Empty if the
  /// client wants no log messages. An error if the level is unknown.
  Rpc<std::optional<LogLevel>> log_level = std::optional<LogLevel>();

  /// Returns true when the client's capabilities include the extension `name`.
  bool declares_extension(const char* name) const;
};
RequestMeta read_meta(const Message& message);

/// Returns all revisions that this server supports, newest first.
nlohmann::json supported_versions();

/// Checks the types of _meta and of its progress token, which both protocol eras have. Returns the
/// error, or nothing when they are valid or missing.
std::optional<RpcError> check_meta(const Message& message);

/// Checks the _meta that a stateless request must have. Returns the error, or nothing when _meta is
/// valid.
std::optional<RpcError> check_stateless_meta(const Message& message);

/// Returns one page of the list `all`. params.cursor selects the page; without a cursor, it is the
/// first page. `all` must not change while the server runs. `key` is the name of the list in the
/// result. A cursor contains the name of its list, so a cursor of a different list is refused. A
/// cursor that this server did not create is refused too.
Rpc<nlohmann::json> list_page(const nlohmann::json& all, const std::string& key,
                              const nlohmann::json& params, std::size_t page_size);

}  // namespace assay::mcp
