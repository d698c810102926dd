// The one prompt of one_shot. It holds what the agent was given by `fetch_spec`, word for word, and general rules that name no
// operator: no tests, no oracle, no hidden case can leak, because the agent never has them. Pure functions.
#pragma once

#include <string>

#include "reference_agents/llm/llm_client.h"

namespace assay::agents {

struct Spec {
  std::string operator_name;
  std::string entry;    // the function to define; empty when the server did not say so in its structured answer
  std::string dialect;  // "triton", "gluon", "tlx"; empty likewise
  std::string text;     // fetch_spec's answer
};

CompletionRequest one_shot_prompt(const Spec& spec);

}  // namespace assay::agents
