// Suggestions for a value that a user is typing: an argument of a prompt or a variable of a
// resource template.
//
//   argument.complete = complete_from({"vector_add", "softmax"});          // "so" -> softmax
//
// A Completer runs on many threads at once and should answer at once.
//
// completion/complete: finds the completer that a reference names, and cuts its suggestions to what
// the protocol allows.
//
//   complete_value(params, prompts, resources)       ->  {"completion": {"values": [...], "total":
//   3, "hasMore": false}}
//
// Stateless, thread-safe.
#pragma once

#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "server/mcp/core/prompt.h"
#include "server/mcp/core/resource.h"
#include "server/mcp/protocol/jsonrpc.h"

namespace assay::mcp {

/// Values by name: of a prompt's arguments, or of a template's variables (decoded).
using Variables = std::map<std::string, std::string>;

/// Every suggestion for `typed`, best first; the server sends the first 100 and says how many there
/// are. `others` holds what is filled in already.
using Completer =
    std::function<std::vector<std::string>(const std::string& typed, const Variables& others)>;

/// Those of `values` that begin with what is typed, then those that contain it; case does not
/// count.
Completer complete_from(std::vector<std::string> values);

/// The protocol's limit on one answer.
constexpr std::size_t kMaxCompletionValues = 100;

/// An argument without a completer has no suggestions: an empty list, not an error.
Rpc<nlohmann::json> complete_value(const nlohmann::json& params, const PromptRegistry& prompts,
                                   const ResourceRegistry& resources);

}  // namespace assay::mcp
