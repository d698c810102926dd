#include "reference_agents/llm/openai.h"

#include "reference_agents/llm/json_fields.h"
#include "reference_agents/llm/usage.h"

namespace assay::agents {
namespace {

using nlohmann::json;

json request_body(const Endpoint& endpoint, const CompletionRequest& request) {
  json messages = json::array();
  if (!request.system.empty())
    messages.push_back({{"role", "system"}, {"content", request.system}});
  for (const ChatMessage& message : request.messages)
    messages.push_back({{"role", message.role}, {"content", message.text}});
  json body = {{"model", endpoint.model}, {"messages", std::move(messages)}};
  // OpenAI's reasoning models refuse the older name; the others know only that one.
  body[endpoint.provider == "openai" ? "max_completion_tokens" : "max_tokens"] = request.max_tokens;
  if (request.temperature) body["temperature"] = *request.temperature;
  return body;
}

/// A string, or parts of which the text ones count. Empty for null, which is how a refusal looks.
std::string text_of(const json& message) {
  const json* content = field(message, "content");
  if (content == nullptr || !content->is_array()) return string_field(message, "content");
  std::string text;
  for (const json& part : *content) text += string_field(part, "text");
  return text;
}

}  // namespace

Result<CompletionReply> OpenAiClient::complete(const CompletionRequest& request) {
  std::map<std::string, std::string> headers;
  if (!endpoint_.api_key.empty()) headers["Authorization"] = "Bearer " + endpoint_.api_key;
  const Result<json> answer =
      post_json(endpoint_, "/chat/completions", headers, request_body(endpoint_, request));
  if (!answer) return fail(answer.error());
  const json* message = field(*answer, "choices", 0, "message");
  if (message == nullptr || !message->is_object())
    return unusable(endpoint_, "the answer has no choices[0].message", *answer);
  CompletionReply reply;
  reply.text = reply_text(endpoint_, text_of(*message));
  reply.stop_reason = reply_text(endpoint_, string_field(*answer, "choices", 0, "finish_reason"));
  set_usage(reply, token_field(*answer, "usage", "prompt_tokens"),
            token_field(*answer, "usage", "completion_tokens"));
  return reply;
}

}  // namespace assay::agents
