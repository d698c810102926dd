// Fetches texts from the server for geak's prompts: guides (resources named guide://TOPIC) and a
// kernel for a similar operator (from the tool `search_examples`). These texts name no operator of
// the benchmark.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "base/result.h"
#include "reference_agents/core/agent_session.h"
#include "reference_agents/core/attempt.h"

namespace assay::agents {

/// The maximum size of all guides in a prompt together. It is the length of the longest
/// specification, so that the guides do not take up more of the prompt than the longest task.
inline constexpr std::size_t kKnowledgeBytes = 24'000;

/// Returns the URIs of the guides that suit the operator, most useful first. The order is: the
/// guide on the operator's dialect, guides that are always useful, guides on the operator's family,
/// hardware facts, and topics that the specification mentions. Pure function.
std::vector<std::string> guides_for(const Spec& spec, const std::vector<std::string>& resources);

/// Returns the guides that suit the operator, as many whole guides as fit into kKnowledgeBytes. If
/// the server has no such guide, returns "" and writes a note to the transcript. An Error means
/// that the connection is broken.
Result<std::string> knowledge_for(AgentSession& session, const Spec& spec);

/// Returns a kernel for a similar operator. Returns "" if the server lacks the tool
/// `search_examples` or finds no kernel. An Error means that the connection is broken.
Result<std::string> similar_example(AgentSession& session, const Spec& spec);

}  // namespace assay::agents
