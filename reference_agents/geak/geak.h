// geak alternates between a generator, an evaluator, a reflector and an optimizer, each a prompt to
// the model or a call to the server. A version is compiled, tested and timed. If it fails, the
// reflector explains the verdict and the generator repairs the version. After `max_debug` failed
// repairs, geak drops this approach and asks for another one. If it succeeds, the reflector
// comments on it and it joins the pool of ancestors, from which the optimizer makes the next plan.
// This is one instance (instance.h). An option turns off each part, so that its benefit can be
// measured.
//
// Several instances take turns in one thread, one version each. After k rounds each instance has
// had k iterations, so an exhausted budget stops all of them alike. The order of steps is always
// the same, so a transcript can be replayed. Run attempts in parallel with the bench's `--jobs`.
// With several instances the model is asked at temperature 1, as in GEAK.
//
// The steps depend only on the session's answers and the options.
#pragma once

#include <vector>

#include "base/result.h"
#include "reference_agents/core/agent_session.h"
#include "reference_agents/llm/number_options.h"

namespace assay::agents {

const std::vector<NumberOption>& geak_options();
Result<Attempt> attempt_geak(AgentSession& session, const NumberValues& options);

}  // namespace assay::agents
