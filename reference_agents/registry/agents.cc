#include "reference_agents/registry/agents.h"

#include <algorithm>

#include "reference_agents/alphaevolve/alphaevolve.h"
#include "reference_agents/geak/geak.h"
#include "reference_agents/leader/leader.h"
#include "reference_agents/one_shot/one_shot.h"

namespace assay::agents {

const std::vector<AgentEntry>& agents() {
  static const std::vector<AgentEntry> list = {
      {"one_shot", "one_shot", "one answer, no feedback", {}, attempt_one_shot},
      {"leader", "iterative", "edits of the best version, kept if better", leader_options(),
       attempt_leader},
      {"alphaevolve", "iterative", "whole versions from the evaluator's feedback",
       alphaevolve_options(), attempt_alphaevolve},
      {"geak", "iterative", "generator, evaluator, reflector, optimizer", geak_options(),
       attempt_geak},
  };
  return list;
}

Result<AgentChoice> parse_agent(const std::string& text) {
  const std::string name = text.substr(0, text.find('?'));
  const auto entry = std::find_if(agents().begin(), agents().end(),
                                  [&](const AgentEntry& agent) { return agent.name == name; });
  if (entry == agents().end()) {
    std::string valid;
    for (const AgentEntry& agent : agents()) valid += (valid.empty() ? "" : ", ") + agent.name;
    return fail(ErrorCode::not_found, "unknown agent '" + name + "'; valid: " + valid);
  }
  Result<NamedOptions> named = parse_options(text, entry->options);
  if (!named) return fail(named.error());
  return AgentChoice{&*entry, std::move(named->values)};
}

Result<Attempt> attempt_operator(const AgentChoice& choice, mcp::Client& client,
                                 MeteredClient& model, Transcript& transcript,
                                 const AttemptRequest& request) {
  AgentSession session(client, model, transcript, request);
  Result<Attempt> ended = choice.entry->attempt(session, choice.options);
  return ended || !session.prompt_refused() ? ended : session.submit_best();
}

}  // namespace assay::agents
