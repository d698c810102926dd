// The one prompt of one_shot. It holds what the agent was given by `fetch_spec`, word for word, and
// general rules that name no operator: no tests, no oracle, no hidden case can leak, because the
// agent never has them. Pure functions.
#pragma once

#include "reference_agents/core/attempt.h"
#include "reference_agents/llm/llm_client.h"

namespace assay::agents {

CompletionRequest one_shot_prompt(const Spec& spec);

}  // namespace assay::agents
