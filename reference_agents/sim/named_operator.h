// The operator that a prompt is about, for the providers that are no models. Pure function, safe
// from any thread.
#pragma once

#include <string>

#include "reference_agents/llm/llm_client.h"

namespace assay::agents {

/// The name in the last line that begins with "Operator: "; it becomes a file name, so only
/// [a-z0-9_] counts. Empty: none.
std::string named_operator(const CompletionRequest& request);

}  // namespace assay::agents
