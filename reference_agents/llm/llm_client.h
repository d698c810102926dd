// LlmClient: one prompt in, one reply out. The reference agents see a language model through this
// and nothing else.
//
//   Result<std::unique_ptr<LlmClient>> client = make_llm_client("anthropic:claude-sonnet-4-5",
//   options);   // provider.h Result<CompletionReply> reply = (*client)->complete({.system = "...",
//   .messages = {{"user", "..."}}});
//
// complete() may be called from several threads at once. It retries what is worth retrying
// (retry.h) and blocks meanwhile.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace assay::agents {

/// How the label of every provider ends that is no model: its runs say nothing about any model and
/// are never ranked.
inline constexpr std::string_view kNoModelMark = "(no model)";

struct ChatMessage {
  std::string role;  // "user" or "assistant"
  std::string text;
};

struct CompletionRequest {
  std::string system;
  std::vector<ChatMessage> messages;
  std::optional<double> temperature;  // absent: the provider's default, which some models insist on
  std::int64_t max_tokens = 16'384;
  // Which attempt asks, and how often it has asked before. Sent to no model: the simulated one
  // draws by them, so that a reply is the same whenever and beside whatever it is asked for.
  std::string attempt = {};
  std::int64_t turn = 0;
};

struct CompletionReply {
  std::string text;         // empty when the model declined; stop_reason says so
  std::string stop_reason;  // the provider's word: "stop", "end_turn", "length", "max_tokens", ...
  std::int64_t input_tokens = 0;
  std::int64_t output_tokens = 0;
  bool usage_known = false;  // false: the reply carried no usage, and the token counts are 0
  // What it took from the spending limit, in US dollars (MeteredClient fills it in): its cost, or
  // its worst case where it carried no usage. Kept with the reply, so that a bench that goes on
  // counts what was counted. Absent: the model has no price.
  std::optional<double> charged_usd = {};
  bool prompt_refused = false;  // no reply: the endpoint would not take this prompt, and `text` is
                                // why (agent/workbench.h)
};

class LlmClient {
 public:
  virtual ~LlmClient() = default;
  /// Errors: permission_denied (the key was refused, or no request would be taken),
  /// invalid_argument (this prompt was refused: another one may be taken), not_found (no such
  /// model), resource_exhausted (still 429 after the last retry, an account without credit, or an
  /// answer beyond its limit), unavailable (5xx, time-out, no connection), corrupt (not a reply).
  virtual Result<CompletionReply> complete(const CompletionRequest& request) = 0;
  /// How the model is named wherever it shows: "openai:gpt-5", "scripted (no model)".
  virtual std::string label() const = 0;
  /// False for `scripted` and `sim`, which are never ranked.
  virtual bool is_model() const = 0;
  /// The only operators that it can answer, sorted; empty: any.
  virtual std::vector<std::string> known_operators() const { return {}; }
};

}  // namespace assay::agents
