// Transcript: every prompt, reply and tool call of one operator's attempt, one JSON object a line, in the order in which they
// happened. It is written through to the disk before the next step, so that an attempt that was cut short can be taken up again without
// paying the model twice, and replayed without the model.
//
//   {"at_unix_ms":1,"kind":"prompt","system":"...","messages":[{"role":"user","text":"..."}]}
//   {"at_unix_ms":2,"kind":"reply","text":"...","stop_reason":"stop","input_tokens":812,"output_tokens":640,"usage_known":true}
//   {"at_unix_ms":3,"kind":"tool_call","tool":"submit","arguments":{...}}
//   {"at_unix_ms":4,"kind":"tool_result","tool":"submit","is_error":false,"text":"...","structured":{...}}
//   {"at_unix_ms":5,"kind":"note","text":"..."}
//
// One transcript belongs to one thread.
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "base/clock.h"
#include "base/result.h"
#include "base/unique_fd.h"
#include "reference_agents/llm/llm_client.h"

namespace assay::agents {

class Transcript {
 public:
  /// Appends to `file`, creating it and its folder. A last line that was cut short by a crash is dropped.
  static Result<Transcript> open(const std::filesystem::path& file, const Clock& clock);

  Status prompt(const CompletionRequest& request);
  Status reply(const CompletionReply& reply);
  Status tool_call(const std::string& tool, const nlohmann::json& arguments);
  Status tool_result(const std::string& tool, bool is_error, const std::string& text, const nlohmann::json& structured);
  Status note(const std::string& text);

  /// The reply that an earlier, unfinished attempt already paid for.
  const std::optional<CompletionReply>& earlier_reply() const { return earlier_reply_; }
  /// Whether the server was told what that reply cost.
  bool earlier_usage_told() const { return earlier_usage_told_; }

 private:
  Transcript(UniqueFd fd, std::string path, const Clock& clock) : fd_(std::move(fd)), path_(std::move(path)), clock_(&clock) {}
  Status append(nlohmann::json line);

  UniqueFd fd_;
  std::string path_;
  const Clock* clock_;
  std::optional<CompletionReply> earlier_reply_;
  bool earlier_usage_told_ = false;
};

}  // namespace assay::agents
