// geak alternates between a generator, an evaluator, a reflector and an optimizer. The evaluator
// calls the server; the other three are prompts to the model. The evaluator compiles, tests and
// times a version. If the version fails, the reflector explains the verdict and the generator
// repairs the version. After `max_debug` failed repairs, geak drops this approach and asks for
// another approach. If the version succeeds, the reflector comments on it, and the version joins
// the pool of ancestors. The optimizer makes the next plan from this pool. Such a search is one
// instance (instance.h). For each part there is an option that turns the part off, so that its
// benefit can be measured.
//
// Several instances take turns in one thread. In each turn an instance tries one version. After k
// rounds each instance has had k iterations, so an exhausted budget stops all instances at the same
// point. The order of steps is always the same, so a transcript can be replayed. To run attempts in
// parallel, use the bench's option `--jobs`. If there are several instances, the model is asked at
// temperature 1, as in GEAK.
//
// The agent's steps depend only on the session's answers and the options.
#pragma once

#include <vector>

#include "base/result.h"
#include "reference_agents/core/agent_session.h"
#include "reference_agents/llm/number_options.h"

namespace assay::agents {

const std::vector<NumberOption>& geak_options();
Result<Attempt> attempt_geak(AgentSession& session, const NumberValues& options);

}  // namespace assay::agents
