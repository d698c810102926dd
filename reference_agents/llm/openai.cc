#include "reference_agents/llm/openai.h"

#include "reference_agents/llm/json_fields.h"

namespace assay::agents {
namespace {

using nlohmann::json;

json request_body(const Endpoint& endpoint, const CompletionRequest& request) {
  json messages = json::array();
  if (!request.system.empty()) messages.push_back({{"role", "system"}, {"content", request.system}});
  for (const ChatMessage& message : request.messages) messages.push_back({{"role", message.role}, {"content", message.text}});
  json body = {{"model", endpoint.model}, {"messages", std::move(messages)}};
  // OpenAI's reasoning models refuse the older name; the others know only that one.
  body[endpoint.provider == "openai" ? "max_completion_tokens" : "max_tokens"] = request.max_tokens;
  if (request.temperature) body["temperature"] = *request.temperature;
  return body;
}

}  // namespace

Result<CompletionReply> OpenAiClient::complete(const CompletionRequest& request) {
  std::map<std::string, std::string> headers;
  if (!endpoint_.api_key.empty()) headers["Authorization"] = "Bearer " + endpoint_.api_key;
  const Result<json> answer = post_json(endpoint_, "/chat/completions", headers, request_body(endpoint_, request));
  if (!answer) return fail(answer.error());
  const json* message = field(*answer, "choices", 0, "message");
  if (message == nullptr || !message->is_object()) {
    return fail(ErrorCode::corrupt, endpoint_.provider + ": the answer has no choices[0].message");
  }
  CompletionReply reply;
  reply.text = string_field(*message, "content");
  reply.stop_reason = string_field(*answer, "choices", 0, "finish_reason");
  reply.usage_known = field(*answer, "usage", "completion_tokens") != nullptr;
  reply.input_tokens = integer_field(*answer, "usage", "prompt_tokens");
  reply.output_tokens = integer_field(*answer, "usage", "completion_tokens");
  return reply;
}

}  // namespace assay::agents
