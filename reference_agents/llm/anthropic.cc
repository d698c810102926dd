#include "reference_agents/llm/anthropic.h"

#include "reference_agents/llm/json_fields.h"

namespace assay::agents {
namespace {

using nlohmann::json;

constexpr const char* kApiVersion = "2023-06-01";

json request_body(const Endpoint& endpoint, const CompletionRequest& request) {
  json messages = json::array();
  for (const ChatMessage& message : request.messages) messages.push_back({{"role", message.role}, {"content", message.text}});
  json body = {{"model", endpoint.model}, {"max_tokens", request.max_tokens}, {"messages", std::move(messages)}};
  if (!request.system.empty()) body["system"] = request.system;
  if (request.temperature) body["temperature"] = *request.temperature;
  return body;
}

}  // namespace

Result<CompletionReply> AnthropicClient::complete(const CompletionRequest& request) {
  const std::map<std::string, std::string> headers = {{"x-api-key", endpoint_.api_key}, {"anthropic-version", kApiVersion}};
  const Result<json> answer = post_json(endpoint_, "/messages", headers, request_body(endpoint_, request));
  if (!answer) return fail(answer.error());
  const json* content = field(*answer, "content");
  if (content == nullptr || !content->is_array()) return fail(ErrorCode::corrupt, endpoint_.provider + ": the answer has no content array");
  CompletionReply reply;
  for (const json& block : *content) {
    if (string_field(block, "type") == "text") reply.text += string_field(block, "text");
  }
  reply.stop_reason = string_field(*answer, "stop_reason");
  reply.usage_known = field(*answer, "usage", "output_tokens") != nullptr;
  // Cached input is billed apart and cheaper; this client never asks for caching, so the sum is what was read.
  reply.input_tokens = integer_field(*answer, "usage", "input_tokens") + integer_field(*answer, "usage", "cache_creation_input_tokens") +
                       integer_field(*answer, "usage", "cache_read_input_tokens");
  reply.output_tokens = integer_field(*answer, "usage", "output_tokens");
  return reply;
}

}  // namespace assay::agents
