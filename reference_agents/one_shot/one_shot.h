// one_shot is the simplest agent, a lower bound for the others: it sends one specification in one
// prompt and makes one submission. The model gets no feedback.
//
//   Result<Attempt> attempt = attempt_one_shot(session, {});
//   if (attempt) show(attempt->outcome);  // "pass"
//
// The steps: fetch_spec -> prompt -> model -> code -> compile -> run_tests -> submit. The steps
// depend only on the session's answers. The functions are thread-safe; a session belongs to one
// thread.
#pragma once

#include "base/result.h"
#include "reference_agents/core/agent_session.h"
#include "reference_agents/core/attempt.h"
#include "reference_agents/llm/llm_client.h"
#include "reference_agents/llm/number_options.h"

namespace assay::agents {

/// Makes one attempt. An Error means that the attempt was interrupted because the model or the
/// server failed. The attempt can continue later.
Result<Attempt> attempt_one_shot(AgentSession& session, const NumberValues& options);

/// Makes the agent's only prompt. It contains the answer to `fetch_spec` word for word, and rules
/// that name no operator.
CompletionRequest one_shot_prompt(const Spec& spec);

}  // namespace assay::agents
