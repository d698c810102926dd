// The table of reference agents. An agent is named with optional options, such as "leader" or
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
  std::string track;  // the track of its runs
  std::string summary;
  std::vector<NumberOption> options;
  Result<Attempt> (*attempt)(AgentSession& session, const NumberValues& options) = nullptr;
};

const std::vector<AgentEntry>& agents();

struct AgentChoice {
  const AgentEntry* entry = nullptr;
  NumberValues options;
};

/// not_found lists the agents if the name is unknown. invalid_argument lists the options if an
/// option is invalid.
Result<AgentChoice> parse_agent(const std::string& text);

/// Makes one attempt. An Error means that it was interrupted because the model or the server
/// failed; it can continue later. A prompt that the endpoint refuses for good ends the attempt
/// without an Error (core/agent_session.h).
Result<Attempt> attempt_operator(const AgentChoice& choice, mcp::Client& client,
                                 MeteredClient& model, Transcript& transcript,
                                 const AttemptRequest& request);

}  // namespace assay::agents
