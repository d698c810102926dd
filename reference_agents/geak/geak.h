// geak: a generator, an evaluator, a reflector and an optimizer in turn. A version is compiled,
// tested and timed, each only after the one before. A failure goes to the reflector with the
// server's words, and the generator mends it with that reflection; after `max_debug` failed repairs
// the line of attack is dropped and another one is asked for, instead of being debugged for ever. A
// success is thought over and joins the pool of ancestors (ancestors.h), from which the optimizer
// draws the next plan. That is one instance (instance.h); each part can be left out by an option,
// to see what it is good for.
//
// Several instances go round in turn, one version each, in one thread: after k rounds every
// instance has had k iterations, as if they ran in parallel, a budget that ends cuts all of them
// alike, and yet the order of the steps is the same every time, which a transcript needs to be
// replayed. Waiting in parallel is the bench's --jobs. With several instances the model is asked at
// temperature 1, as GEAK does.
//
// Pure function of its workbench.
#pragma once

#include <vector>

#include "base/result.h"
#include "reference_agents/core/agent_session.h"
#include "reference_agents/llm/number_options.h"

namespace assay::agents {

const std::vector<NumberOption>& geak_options();
Result<Attempt> attempt_geak(AgentSession& bench, const NumberValues& options);

}  // namespace assay::agents
