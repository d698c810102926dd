// Anthropic's messages API. Thread-safe.
#pragma once

#include <utility>

#include "reference_agents/llm/endpoint.h"
#include "reference_agents/llm/llm_client.h"

namespace assay::agents {

class AnthropicClient final : public LlmClient {
 public:
  explicit AnthropicClient(Endpoint endpoint) : endpoint_(std::move(endpoint)) {}
  Result<CompletionReply> complete(const CompletionRequest& request) override;
  std::string label() const override { return endpoint_.provider + ":" + endpoint_.model; }
  bool is_model() const override { return true; }

 private:
  const Endpoint endpoint_;
};

}  // namespace assay::agents
