// leader keeps the best version (the leader) and asks the model for edits of this version. The
// first reply is a whole module. In each later round, the prompt shows the leader with its verdict
// and metrics, and the result of the previous round. The model replies with SEARCH/REPLACE edits
// (core/reply_code.h). If the edited version is better, it becomes the leader. Otherwise it is
// dropped, and the model is told why.
//
// The agent's steps depend only on the session's answers and the options.
#pragma once

#include <vector>

#include "base/result.h"
#include "reference_agents/core/agent_session.h"
#include "reference_agents/llm/number_options.h"

namespace assay::agents {

const std::vector<NumberOption>& leader_options();
Result<Attempt> attempt_leader(AgentSession& session, const NumberValues& options);

}  // namespace assay::agents
