// Opening a run for an agent.
//
//   Result<RunHandle> run = start_run(client, {.agent = "leader", .model = model.label(), .track =
//   "iterative", .suite = "standard"});
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "server/mcp/client/client.h"

namespace assay::agents {

struct RunHandle {
  std::string run;
  std::vector<std::string> operators;  // of the suite, in the server's order
};

struct RunWish {
  std::string agent, model, track, suite;
};

/// An Error holds the server's refusal (code not_found) or a broken conversation.
Result<RunHandle> start_run(mcp::Client& client, const RunWish& wish);

}  // namespace assay::agents
