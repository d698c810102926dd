// alphaevolve: programs evolved by a model from scored earlier ones. Each reply is a whole module,
// or with `diff` edits of the one shown (agent/edits.h), and is evaluated in a cascade: what does
// not compile is not tested, what is wrong is not timed. The next prompt shows a parent with its
// verdict and metrics, and a few others that were tried, so that neither their errors nor their
// ideas are lost.
//
// By default that is TritonGym's setting: 5 attempts, the parent is the best program, the others
// are the newest. `islands`, `migrate`, `archive` and `min_perf` turn on the rest of AlphaEvolve's
// database (database.h); the islands take turns, one attempt each.
//
// Pure function of its workbench.
#pragma once

#include <vector>

#include "base/result.h"
#include "reference_agents/core/agent_session.h"
#include "reference_agents/llm/number_options.h"

namespace assay::agents {

const std::vector<NumberOption>& alphaevolve_options();
Result<Attempt> attempt_alphaevolve(AgentSession& bench, const NumberValues& options);

}  // namespace assay::agents
