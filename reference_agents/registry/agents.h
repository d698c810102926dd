// The table of reference agents, and how one is named: "leader", "geak?iterations=4&max_debug=2".
// agents() is THE list; an agent is a folder in reference_agents/ and a line there.
//
//   Result<AgentChoice> choice = parse_agent("leader?rounds=4");
//   Result<Attempt> attempt = attempt_operator(*choice, client, model, transcript, {.run = run,
//   .operator_name = "vector_add"});
//
// Several attempts may run at once, each with its own transcript.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "reference_agents/core/agent_session.h"
#include "reference_agents/core/attempt.h"
#include "reference_agents/core/transcript.h"
#include "reference_agents/llm/number_options.h"
#include "reference_agents/llm/spending.h"
#include "server/mcp/client/client.h"

namespace assay::agents {

struct AgentEntry {
  std::string name;
  std::string track;  // whose budgets and rules its runs have
  std::string summary;
  std::vector<NumberOption> options;
  Result<Attempt> (*attempt)(AgentSession& bench, const NumberValues& options) = nullptr;
};

const std::vector<AgentEntry>& agents();

struct AgentChoice {
  const AgentEntry* entry = nullptr;
  NumberValues options;
};

/// not_found, naming the agents, for an unknown name; invalid_argument, naming the options, for a
/// bad option.
Result<AgentChoice> parse_agent(const std::string& text);

/// An Error is an attempt that did not come to its end (the model or the server failed) and may be
/// taken up again. A prompt that the endpoint refuses for good is an end (agent_session.h).
Result<Attempt> attempt_operator(const AgentChoice& choice, mcp::Client& client,
                                 MeteredClient& model, Transcript& transcript,
                                 const AttemptRequest& request);

}  // namespace assay::agents
