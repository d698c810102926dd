// Completion: suggestions for a value that a user is typing, which is an argument of a prompt or a
// variable of a resource template.
//
//   const Completer complete = complete_from({"vector_add", "softmax"});
//   const std::vector<std::string> values = complete("so", {});  // {"softmax"}
//
// All functions are thread-safe. A Completer is called from many threads at once, and it must be
// quick.
#pragma once

#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "server/mcp/protocol/jsonrpc.h"
#include "server/mcp/protocol/uri_template.h"

namespace assay::mcp {

class PromptRegistry;
class ResourceRegistry;

/// Returns all suggestions for `typed`, best first. The server sends the first kMaxCompletionValues
/// and their total number. `others` are the values that the user has filled in already.
using Completer =
    std::function<std::vector<std::string>(const std::string& typed, const Variables& others)>;

/// Suggests first the `values` that begin with the typed text, then those that contain it. The
/// comparison ignores case.
Completer complete_from(std::vector<std::string> values);

/// The protocol's limit on the values of one answer.
constexpr std::size_t kMaxCompletionValues = 100;

/// Answers completion/complete. It finds the completer that params.ref names and cuts its
/// suggestions to the limit. An argument without a completer has an empty list, not an error.
Rpc<nlohmann::json> complete_value(const nlohmann::json& params, const PromptRegistry& prompts,
                                   const ResourceRegistry& resources);

}  // namespace assay::mcp
