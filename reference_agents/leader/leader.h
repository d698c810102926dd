// leader keeps the best version and asks the model for edits of it. The first reply is a whole
// module. Each later round shows the best code, its verdict and metrics, and the result of the
// round before, and it takes SEARCH/REPLACE edits (core/reply_code.h). A better version becomes the
// leader. Any other version is dropped, and the model is told why.
//
// The steps depend only on the session's answers and the options.
#pragma once

#include <vector>

#include "base/result.h"
#include "reference_agents/core/agent_session.h"
#include "reference_agents/llm/number_options.h"

namespace assay::agents {

const std::vector<NumberOption>& leader_options();
Result<Attempt> attempt_leader(AgentSession& session, const NumberValues& options);

}  // namespace assay::agents
