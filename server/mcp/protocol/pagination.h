// One page of a list that never changes while the server runs. A cursor is opaque to clients, names
// its list, and is checked when it comes back.
//
//   auto page = list_page(all, "tools", params, 100);      // {"tools": [...], "nextCursor": "..."}
//
// Pure, thread-safe.
#pragma once

#include <cstddef>
#include <nlohmann/json.hpp>
#include <string>

#include "server/mcp/protocol/jsonrpc.h"

namespace assay::mcp {

/// `key` is the list's name in the result. A cursor of another list, or one that this server did
/// not make, is refused.
Rpc<nlohmann::json> list_page(const nlohmann::json& all, const std::string& key,
                              const nlohmann::json& params, std::size_t page_size);

}  // namespace assay::mcp
