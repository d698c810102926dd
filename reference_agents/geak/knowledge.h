// Fetches texts from the server for geak's prompts: guides (resources named guide://TOPIC) and a
// kernel for a similar operator (from the tool `search_examples`). They name no operator of the
// benchmark.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "base/result.h"
#include "reference_agents/core/agent_session.h"
#include "reference_agents/core/attempt.h"

namespace assay::agents {

/// The size limit of all guides in a prompt. It is the length of the longest specification, so that
/// the guides do not bury the task.
inline constexpr std::size_t kKnowledgeBytes = 24'000;

/// Returns the URIs of the guides that suit the operator, most useful first: its dialect, guides
/// that are always useful, its family, hardware facts, topics that the specification mentions. Pure
/// function.
std::vector<std::string> guides_for(const Spec& spec, const std::vector<std::string>& resources);

/// Returns the guides that suit the operator and fit into kKnowledgeBytes, each whole. If the
/// server has none, returns an empty text and writes a note to the transcript. An Error means that
/// the connection is broken.
Result<std::string> knowledge_for(AgentSession& session, const Spec& spec);

/// Returns a kernel for a similar operator. Returns an empty text if the server has no such tool or
/// found nothing. An Error means that the connection is broken.
Result<std::string> similar_example(AgentSession& session, const Spec& spec);

}  // namespace assay::agents
