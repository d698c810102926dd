// Suggests completions of a value that a user is typing. The value is an argument of a prompt or a
// variable of a resource template.
//
//   const Completer complete = complete_from({"vector_add", "softmax"});
//   const std::vector<std::string> values = complete("so", {});  // {"softmax"}
//
// All functions are thread-safe. A Completer is called from many threads at once, and each call
// must be quick.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "base/json.h"
#include "server/mcp/protocol/jsonrpc.h"
#include "server/mcp/protocol/uri_template.h"

namespace assay::mcp {

class PromptRegistry;
class ResourceRegistry;

/// Returns all suggestions for the text `typed`, best first. The server sends only the first
/// kMaxCompletionValues suggestions, and the number of all suggestions. `others` are the values
/// that the user has already filled in.
using Completer =
    std::function<std::vector<std::string>(const std::string& typed, const Variables& others)>;

/// Returns a completer that suggests some of `values`: first those that begin with the typed text,
/// then those that contain it elsewhere. The comparison ignores case.
Completer complete_from(std::vector<std::string> values);

/// The protocol's limit on the number of suggestions in one answer.
constexpr std::size_t kMaxCompletionValues = 100;

/// Answers the request completion/complete. The function finds the completer of the argument that
/// `params` names, and returns at most kMaxCompletionValues suggestions. For an argument without a
/// completer, it returns an empty list, not an error.
Rpc<nlohmann::json> complete_value(const nlohmann::json& params, const PromptRegistry& prompts,
                                   const ResourceRegistry& resources);

}  // namespace assay::mcp
