// leader: keeps the best code and asks for edits of it. The first reply is a whole module; each
// round after it shows the best code, its verdict and metrics and what became of the round before,
// and takes SEARCH/REPLACE edits (agent/edits.h). A result that is better becomes the leader; any
// other is taken back, and the model is told why.
//
// Pure function of its workbench.
#pragma once

#include <vector>

#include "base/result.h"
#include "reference_agents/core/agent_session.h"
#include "reference_agents/llm/number_options.h"

namespace assay::agents {

const std::vector<NumberOption>& leader_options();
Result<Attempt> attempt_leader(AgentSession& bench, const NumberValues& options);

}  // namespace assay::agents
