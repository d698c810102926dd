// The one example that geak may show its generator: the kernel that the server's tool
// `search_examples` finds for the specification.
#pragma once

#include <string>

#include "base/result.h"
#include "reference_agents/core/agent_session.h"
#include "reference_agents/core/attempt.h"

namespace assay::agents {

/// For the prompt; says so when the server has no such tool or found nothing. An Error is a broken
/// conversation.
Result<std::string> similar_example(AgentSession& bench, const Spec& spec);

}  // namespace assay::agents
