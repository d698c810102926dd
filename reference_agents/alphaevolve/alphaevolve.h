// alphaevolve evolves programs with a model that sees earlier, scored programs. A prompt shows the
// parent, which is the program to improve, with its verdict and metrics. It also shows a few other
// programs as sources of ideas and of errors to avoid. (A first prompt shows no program.) The model
// replies with a whole module, or, if the option `diff` is on, with a list of edits of the parent.
// The resulting program is evaluated in a cascade: a program that does not compile is not tested,
// and a wrong program is not timed.
//
// The defaults are the setting of TritonGym: there are 5 attempts, the parent is the best program,
// and the other programs are the newest. The options `islands`, `migrate`, `archive` and `min_perf`
// turn on further parts of AlphaEvolve's database (database.h). Islands take turns; each turn is
// one attempt.
//
// The agent's steps depend only on the session's answers and the options.
#pragma once

#include <vector>

#include "base/result.h"
#include "reference_agents/core/agent_session.h"
#include "reference_agents/llm/number_options.h"

namespace assay::agents {

const std::vector<NumberOption>& alphaevolve_options();
Result<Attempt> attempt_alphaevolve(AgentSession& session, const NumberValues& options);

}  // namespace assay::agents
