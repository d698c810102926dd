// geak: a generator, an evaluator, a reflector and an optimizer in turn. A version is compiled, tested and timed, each only after the one
// before. A failure goes to the reflector with the server's words, and the generator mends it with that reflection; after `max_debug`
// failed repairs the line of attack is dropped and another one is asked for, instead of being debugged for ever. A success is thought
// over and joins the pool of ancestors (ancestors.h), from which the optimizer draws the next plan.
//
// Pure function of its workbench.
#pragma once

#include <vector>

#include "base/result.h"
#include "reference_agents/agent/workbench.h"
#include "reference_agents/llm/number_options.h"

namespace assay::agents {

const std::vector<NumberOption>& geak_options();
Result<Attempt> attempt_geak(Workbench& bench, const NumberValues& options);

}  // namespace assay::agents
