// alphaevolve evolves programs with a model that sees earlier, scored programs. A reply is a whole
// module, or with the option `diff` a list of edits of the parent. It is evaluated in a cascade: a
// program that does not compile is not tested, and a wrong one is not timed. The next prompt shows
// a parent with its verdict and metrics, and a few other programs for their errors and ideas.
//
// The defaults are TritonGym's setting: 5 attempts, the parent is the best program, the others are
// the newest. The options `islands`, `migrate`, `archive` and `min_perf` turn on the rest of
// AlphaEvolve's database (database.h). Islands take turns, one attempt each.
//
// The steps depend only on the session's answers and the options.
#pragma once

#include <vector>

#include "base/result.h"
#include "reference_agents/core/agent_session.h"
#include "reference_agents/llm/number_options.h"

namespace assay::agents {

const std::vector<NumberOption>& alphaevolve_options();
Result<Attempt> attempt_alphaevolve(AgentSession& session, const NumberValues& options);

}  // namespace assay::agents
