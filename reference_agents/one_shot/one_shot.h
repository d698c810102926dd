// one_shot: the lower bound among the agents. A specification in, one submission out; the model
// never hears how it went.
//
//   fetch_spec -> prompt -> model -> code -> compile -> run_tests -> submit
//
// Pure function of its workbench.
//
// The one prompt of one_shot. It holds what the agent was given by `fetch_spec`, word for word, and
// general rules that name no operator: no tests, no oracle, no hidden case can leak, because the
// agent never has them. Pure functions.
#pragma once

#include "base/result.h"
#include "reference_agents/core/agent_session.h"
#include "reference_agents/core/attempt.h"
#include "reference_agents/llm/llm_client.h"
#include "reference_agents/llm/number_options.h"

namespace assay::agents {

/// An Error is an attempt that did not come to its end (the model or the server failed) and may be
/// taken up again.
Result<Attempt> attempt_one_shot(AgentSession& bench, const NumberValues& options);

CompletionRequest one_shot_prompt(const Spec& spec);

}  // namespace assay::agents
