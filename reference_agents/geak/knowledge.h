// Knowledge injection: the guides that the server offers as resources (guide://TOPIC), put into the
// system text of every role. Chosen are, in this order, the guide of the operator's dialect, what
// is always useful, the guide of its family, hardware facts, and guides whose topic the
// specification mentions; each whole or not at all, as long as they fit into kKnowledgeBytes.
// Guides name no operator of the benchmark.
//
// The one example that geak may show its generator: the kernel that the server's tool
// `search_examples` finds for the specification.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "base/result.h"
#include "reference_agents/core/agent_session.h"
#include "reference_agents/core/attempt.h"

namespace assay::agents {

/// As much as the longest specification has, so that the task is not drowned: what is always
/// useful, hardware facts and a topic or two.
inline constexpr std::size_t kKnowledgeBytes = 24'000;

/// The addresses of `resources` that suit the operator, most useful first. Pure function.
std::vector<std::string> guides_for(const Spec& spec, const std::vector<std::string>& resources);

/// For the prompt; empty, with a note in the transcript, when the server has no guides. An Error is
/// a broken conversation.
Result<std::string> knowledge_for(AgentSession& bench, const Spec& spec);

/// For the prompt; says so when the server has no such tool or found nothing. An Error is a broken
/// conversation.
Result<std::string> similar_example(AgentSession& bench, const Spec& spec);

}  // namespace assay::agents
