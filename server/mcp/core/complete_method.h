// completion/complete: finds the completer that a reference names, and cuts its suggestions to what
// the protocol allows.
//
//   complete_value(params, prompts, resources)       ->  {"completion": {"values": [...], "total":
//   3, "hasMore": false}}
//
// Stateless, thread-safe.
#pragma once

#include <nlohmann/json.hpp>

#include "server/mcp/core/prompt.h"
#include "server/mcp/core/resource.h"
#include "server/mcp/protocol/jsonrpc.h"

namespace assay::mcp {

/// The protocol's limit on one answer.
constexpr std::size_t kMaxCompletionValues = 100;

/// An argument without a completer has no suggestions: an empty list, not an error.
Rpc<nlohmann::json> complete_value(const nlohmann::json& params, const PromptRegistry& prompts,
                                   const ResourceRegistry& resources);

}  // namespace assay::mcp
