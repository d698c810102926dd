// Chat completions as OpenAI defined them, and as DeepSeek, Together, Google, vLLM and llama.cpp
// also speak them. Thread-safe.
//
// Anthropic's messages API. Thread-safe.
//
// Token counts as an endpoint reports them. They become money and totals, so what no model can have
// used (a negative, fractional or absurd number) is taken as not reported. Pure functions, safe
// from any thread.
//
//   set_usage(reply, token_field(answer, "usage", "prompt_tokens"), token_field(answer, "usage",
//   "completion_tokens"));
#pragma once

#include <cstdint>
#include <optional>
#include <utility>

#include "reference_agents/llm/endpoint.h"
#include "reference_agents/llm/json_fields.h"
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

inline constexpr std::int64_t kMostTokens =
    1LL << 40;  // of one reply; sums of very many stay far from the end of 64 bits

/// Nothing when the field is absent or no count.
template <class... Path>
std::optional<std::int64_t> token_field(const nlohmann::json& root, Path... path) {
  const nlohmann::json* at = field(root, path...);
  if (at == nullptr || !at->is_number_integer()) return std::nullopt;
  if (at->is_number_unsigned() ? at->get<std::uint64_t>() > kMostTokens
                               : at->get<std::int64_t>() < 0)
    return std::nullopt;
  return at->get<std::int64_t>();
}

/// Known only when both are: half a bill is none.
inline void set_usage(CompletionReply& reply, std::optional<std::int64_t> input,
                      std::optional<std::int64_t> output) {
  reply.usage_known = input.has_value() && output.has_value();
  reply.input_tokens = reply.usage_known ? *input : 0;
  reply.output_tokens = reply.usage_known ? *output : 0;
}

}  // namespace assay::agents
