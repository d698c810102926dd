// alphaevolve: the evaluator's feedback and few attempts. Each reply is a whole module, or with `diff` edits of the best one
// (agent/edits.h); the next prompt shows the best one with its verdict and metrics, and a few others that were tried, so that neither their
// errors nor their ideas are lost.
//
// Pure function of its workbench.
#pragma once

#include <vector>

#include "base/result.h"
#include "reference_agents/agent/workbench.h"
#include "reference_agents/llm/number_options.h"

namespace assay::agents {

const std::vector<NumberOption>& alphaevolve_options();
Result<Attempt> attempt_alphaevolve(Workbench& bench, const NumberValues& options);

}  // namespace assay::agents
