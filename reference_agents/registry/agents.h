// Lists the reference agents. A choice of an agent is its name and, if needed, options: "leader" or
// "geak?iterations=4&max_debug=2". To add an agent, write a folder below reference_agents/ and add
// a line to agents().
//
//   Result<AgentChoice> choice = parse_agent("leader?rounds=4");
//   Result<Attempt> attempt = attempt_operator(*choice, client, model, transcript, request);
//
// Several attempts can run at once, each with its own transcript.
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
  std::string track;  // the track of the agent's runs
  std::string summary;
  std::vector<NumberOption> options;
  Result<Attempt> (*attempt)(AgentSession& session, const NumberValues& options) = nullptr;
};

const std::vector<AgentEntry>& agents();

struct AgentChoice {
  const AgentEntry* entry = nullptr;
  NumberValues options;
};

/// Parses the choice of an agent. Errors: not_found if the name is unknown, and the message lists
/// the agents; invalid_argument if an option is invalid, and the message lists the options.
Result<AgentChoice> parse_agent(const std::string& text);

/// Makes one attempt. An Error means that the attempt was interrupted because the model or the
/// server failed; the attempt can continue later. If the endpoint refuses a prompt for good, the
/// attempt ends without an Error (core/agent_session.h).
Result<Attempt> attempt_operator(const AgentChoice& choice, mcp::Client& client,
                                 MeteredClient& model, Transcript& transcript,
                                 const AttemptRequest& request);

}  // namespace assay::agents
