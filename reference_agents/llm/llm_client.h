// LlmClient is the interface to a language model: it gets one prompt and returns one reply. The
// agents use a model only through this interface.
//
//   Result<std::unique_ptr<LlmClient>> client = make_llm_client("openai:gpt-5", options);
//   Result<CompletionReply> reply = (*client)->complete({.messages = {{"user", "..."}}});
//
// Several threads can call complete() at once. complete() blocks while it retries (endpoint.h).
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace assay::agents {

/// The mark at the end of the label of every provider that is not a model. Runs with such a
/// provider are never ranked, because they say nothing about a model.
inline constexpr std::string_view kNoModelMark = "(no model)";

/// Returns the label of a provider that is not a model: "scripted (no model)" for "scripted".
inline std::string label_without_model(const std::string& name) {
  return name + " " + std::string(kNoModelMark);
}

struct ChatMessage {
  std::string role;  // "user" or "assistant"
  std::string text;
};

struct CompletionRequest {
  std::string system;
  std::vector<ChatMessage> messages;
  std::optional<double> temperature;  // absent: the model's default, which some models require
  std::int64_t max_tokens = 16'384;
  /// The name of the attempt, and the number of earlier requests in the attempt. These values are
  /// not sent to a model. They seed the simulated model, so that its reply does not depend on time
  /// or on other requests.
  std::string attempt = {};
  std::int64_t turn = 0;
  /// Gets a text whenever the client waits before it asks again, such as "try 3 of 6 in 1.5 s: HTTP
  /// 503". Can be empty.
  std::function<void(const std::string&)> notice = {};
};

/// How a reply ended.
enum class ReplyEnd {
  whole,    // the model ended the reply, or the provider did not say why it ended
  cut_off,  // the limit of tokens ended the reply
};

/// Returns the end that the provider's word means. The limit of tokens is "length" in OpenAI's
/// protocol, and "max_tokens" or "model_context_window_exceeded" in Anthropic's.
inline ReplyEnd reply_end_from(std::string_view stop_reason) {
  for (const std::string_view word : {"length", "max_tokens", "model_context_window_exceeded"}) {
    if (stop_reason == word) return ReplyEnd::cut_off;
  }
  return ReplyEnd::whole;
}

struct CompletionReply {
  std::string text;         // empty if the model declined; `stop_reason` then says why
  std::string stop_reason;  // the provider's word: "stop", "end_turn", "length", "max_tokens", ...
  std::int64_t input_tokens = 0;
  std::int64_t output_tokens = 0;
  bool usage_known = false;  // false: the endpoint reported no usage, and both counts are 0
  /// The amount in US dollars that counts against the spending limit: the cost, or the worst case
  /// if the usage is unknown. MeteredClient sets this amount. It is stored with the reply, so that
  /// a continued bench counts the same amount. Absent if the model has no price.
  std::optional<double> charged_usd = {};
  /// Names the reply in a report of its usage. It is stored with the reply, so that a continued
  /// bench does not report the same usage twice. Empty in transcripts of older versions.
  std::string id = {};
  /// True if the endpoint refused the prompt. `text` is then the reason (core/agent_session.h).
  bool prompt_refused = false;
  ReplyEnd end = ReplyEnd::whole;  // computed from `stop_reason`
};

class LlmClient {
 public:
  virtual ~LlmClient() = default;
  /// Sends the prompt and returns the reply. Errors:
  /// - permission_denied: the endpoint refuses the key or every request.
  /// - invalid_argument: the endpoint refuses this prompt. Another prompt can succeed.
  /// - not_found: there is no such model.
  /// - resource_exhausted: the last retry got 429, the account is empty, or the answer is too long.
  /// - unavailable: the last retry got 5xx or a timeout, or there is no connection.
  /// - corrupt: the answer is not a reply.
  virtual Result<CompletionReply> complete(const CompletionRequest& request) = 0;
  /// Returns the model's name as all output shows it, such as "openai:gpt-5" or "scripted (no
  /// model)".
  virtual std::string label() const = 0;
  /// Returns false for the providers `scripted` and `sim`, which are never ranked.
  virtual bool is_model() const = 0;
  /// Returns the names of the operators for which the client has answers, sorted. The list is empty
  /// if the client can answer for every operator.
  virtual std::vector<std::string> known_operators() const { return {}; }
};

}  // namespace assay::agents
