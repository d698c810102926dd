#include "reference_agents/llm/http_clients.h"

#include <cstdint>
#include <optional>
#include <utility>

#include "reference_agents/llm/json_fields.h"

namespace assay::agents {
namespace {

using nlohmann::json;

/// The largest token count that is accepted for one reply. With this maximum, the sum over many
/// replies cannot overflow 64 bits.
constexpr std::int64_t kMostTokens = 1LL << 40;

/// Returns a token count that an endpoint reports. Returns nothing if the field is absent. Also
/// returns nothing for a number that cannot be right (negative, fractional, or above kMostTokens),
/// because the cost is computed from the token counts.
template <class... Path>
std::optional<std::int64_t> token_field(const json& root, Path... path) {
  const json* at = field(root, path...);
  if (at == nullptr || !at->is_number_integer()) return std::nullopt;
  if (at->is_number_unsigned() ? at->get<std::uint64_t>() > kMostTokens
                               : at->get<std::int64_t>() < 0)
    return std::nullopt;
  return at->get<std::int64_t>();
}

/// Returns the first choice's message, or null if the answer is not a reply.
const json* message_in(const json& answer) {
  const json* message = field(answer, "choices", 0, "message");
  return message != nullptr && message->is_object() ? message : nullptr;
}

/// Sets the token counts of the reply. The usage is known only if both counts are known.
void set_usage(CompletionReply& reply, std::optional<std::int64_t> input,
               std::optional<std::int64_t> output) {
  reply.usage_known = input.has_value() && output.has_value();
  reply.input_tokens = reply.usage_known ? *input : 0;
  reply.output_tokens = reply.usage_known ? *output : 0;
}

json openai_body(const Endpoint& endpoint, const CompletionRequest& request) {
  json messages = json::array();
  if (!request.system.empty())
    messages.push_back({{"role", "system"}, {"content", request.system}});
  for (const ChatMessage& message : request.messages)
    messages.push_back({{"role", message.role}, {"content", message.text}});
  json body = {{"model", endpoint.model}, {"messages", std::move(messages)}};
  // OpenAI's reasoning models refuse the older name `max_tokens`. Other servers know only the older
  // name.
  body[endpoint.provider == "openai" ? "max_completion_tokens" : "max_tokens"] = request.max_tokens;
  if (request.temperature) body["temperature"] = *request.temperature;
  return body;
}

/// Returns the text of a message. The content of a message is a string, or an array of parts, or
/// null if the model refused.
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
      post_json(endpoint_, "/chat/completions", headers, openai_body(endpoint_, request),
                {.is_reply = [](const json& said) { return message_in(said) != nullptr; },
                 .notice = request.notice});
  if (!answer) return fail(answer.error());
  const json* message = message_in(*answer);
  if (message == nullptr)
    return unusable(endpoint_, "the answer has no choices[0].message", *answer);
  CompletionReply reply;
  reply.text = reply_text(endpoint_, text_of(*message));
  reply.stop_reason = reply_text(endpoint_, string_field(*answer, "choices", 0, "finish_reason"));
  reply.end = reply_end_from(reply.stop_reason);
  set_usage(reply, token_field(*answer, "usage", "prompt_tokens"),
            token_field(*answer, "usage", "completion_tokens"));
  return reply;
}

namespace {

constexpr const char* kApiVersion = "2023-06-01";

/// Returns the content of a message, or null if the answer is not a reply.
const json* content_in(const json& answer) {
  const json* content = field(answer, "content");
  return content != nullptr && content->is_array() ? content : nullptr;
}

json anthropic_body(const Endpoint& endpoint, const CompletionRequest& request) {
  json messages = json::array();
  for (const ChatMessage& message : request.messages)
    messages.push_back({{"role", message.role}, {"content", message.text}});
  json body = {{"model", endpoint.model},
               {"max_tokens", request.max_tokens},
               {"messages", std::move(messages)}};
  if (!request.system.empty()) body["system"] = request.system;
  if (request.temperature) body["temperature"] = *request.temperature;
  return body;
}

}  // namespace

Result<CompletionReply> AnthropicClient::complete(const CompletionRequest& request) {
  const std::map<std::string, std::string> headers = {{"x-api-key", endpoint_.api_key},
                                                      {"anthropic-version", kApiVersion}};
  const Result<json> answer =
      post_json(endpoint_, "/messages", headers, anthropic_body(endpoint_, request),
                {.is_reply = [](const json& said) { return content_in(said) != nullptr; },
                 .notice = request.notice});
  if (!answer) return fail(answer.error());
  const json* content = content_in(*answer);
  if (content == nullptr) return unusable(endpoint_, "the answer has no content array", *answer);
  CompletionReply reply;
  for (const json& block : *content) {
    if (string_field(block, "type") == "text") reply.text += string_field(block, "text");
  }
  reply.text = reply_text(endpoint_, std::move(reply.text));
  reply.stop_reason = reply_text(endpoint_, string_field(*answer, "stop_reason"));
  reply.end = reply_end_from(reply.stop_reason);
  // Anthropic reports uncached and cached input tokens separately; the number of input tokens is
  // their sum. Cached tokens are cheaper, but this client never asks for caching. So the price of
  // uncached tokens is right for all of them.
  std::optional<std::int64_t> input = token_field(*answer, "usage", "input_tokens");
  for (const char* cached : {"cache_creation_input_tokens", "cache_read_input_tokens"}) {
    if (input) *input += token_field(*answer, "usage", cached).value_or(0);
  }
  set_usage(reply, input, token_field(*answer, "usage", "output_tokens"));
  return reply;
}

}  // namespace assay::agents
