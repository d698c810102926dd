// Transcript: every prompt, reply and tool call of one operator's attempt, one JSON object a line,
// in the order in which they happened. It is written through to the disk before the next step, so
// that an attempt that was cut short can be taken up again without paying the model twice, and
// replayed without the model. What an earlier part wrote is handed out again step by step as long
// as the agent takes the same steps, which it does: it decides by replies and tool results alone.
//
//   {"at_unix_ms":1,"kind":"prompt","system":"...","messages":[{"role":"user","text":"..."}]}
//   {"at_unix_ms":2,"kind":"reply","text":"...","stop_reason":"stop","input_tokens":812,"output_tokens":640,"usage_known":true,"charged_usd":0.012}
//   {"at_unix_ms":3,"kind":"tool_call","tool":"submit","arguments":{...}}
//   {"at_unix_ms":4,"kind":"tool_result","tool":"submit","is_error":false,"text":"...","structured":{...}}
//   {"at_unix_ms":5,"kind":"note","text":"..."}
//
// One transcript belongs to one thread.
#pragma once

#include <deque>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "base/unique_fd.h"
#include "reference_agents/llm/llm_client.h"
#include "server/mcp/client/client.h"

namespace assay::agents {

/// The reply in a transcript's line; nothing in a line of another kind.
std::optional<CompletionReply> reply_of(const nlohmann::json& line);

class Transcript {
 public:
  /// Appends to `file`, creating it and its folder. A last line that was cut short by a crash is
  /// dropped.
  static Result<Transcript> open(const std::filesystem::path& file, const Clock& clock);

  Status prompt(const CompletionRequest& request);
  Status reply(const CompletionReply& reply);
  Status tool_call(const std::string& tool, const nlohmann::json& arguments);
  Status tool_result(const std::string& tool, bool is_error, const std::string& text,
                     const nlohmann::json& structured);
  Status note(const std::string& text);

  /// The earlier part's reply at this point; nothing once its end is reached. corrupt: the earlier
  /// part did something else here.
  Result<std::optional<CompletionReply>> replay_reply();
  /// Likewise the result of this call. A call that was cut short before its result is made again.
  Result<std::optional<mcp::ToolResult>> replay_tool(const std::string& tool,
                                                     const nlohmann::json& arguments);
  /// Whether something of an earlier part is still to be handed out.
  bool is_replaying() const { return !earlier_.empty(); }
  /// Every reply that an earlier part paid for, handed out or not.
  const std::vector<CompletionReply>& earlier_replies() const { return earlier_replies_; }

 private:
  Transcript(UniqueFd fd, std::string path, const Clock& clock)
      : fd_(std::move(fd)), path_(std::move(path)), clock_(&clock) {}
  Status append(nlohmann::json line);

  UniqueFd fd_;
  std::string path_;
  const Clock* clock_;
  tl::unexpected<Error> other_than(const std::string& expected) const;
  void drop_notes();

  std::deque<nlohmann::json> earlier_;  // what is still to be handed out
  std::vector<CompletionReply> earlier_replies_;
};

}  // namespace assay::agents
