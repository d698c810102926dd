// Defines the LLM clients that use HTTP. OpenAiClient uses the chat completions API, which OpenAI,
// DeepSeek, Together, Google, vLLM and llama.cpp offer. AnthropicClient uses Anthropic's messages
// API.
//
//   OpenAiClient client(endpoint);
//   Result<CompletionReply> reply = client.complete(request);
//
// Thread-safe.
#pragma once

#include <utility>

#include "reference_agents/llm/endpoint.h"
#include "reference_agents/llm/llm_client.h"

namespace assay::agents {

class OpenAiClient final : public LlmClient {
 public:
  explicit OpenAiClient(Endpoint endpoint) : endpoint_(std::move(endpoint)) {}
  Result<CompletionReply> complete(const CompletionRequest& request) override;
  std::string label() const override { return endpoint_.provider + ":" + endpoint_.model; }
  bool is_model() const override { return true; }

 private:
  const Endpoint endpoint_;
};

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
