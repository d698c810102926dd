// Transcript is the file of all prompts, replies and tool calls of one attempt, in order, as one
// JSON object a line. Each line is written before the next step, and each reply reaches the disk.
// So an interrupted attempt can continue without paying the model twice, and a finished attempt can
// be replayed without a model. A continued attempt gets the results of its earlier part back step
// by step. This works because an agent's steps depend only on replies and tool results.
//
//   Result<Transcript> transcript = Transcript::open(file, system_clock());
//   Result<std::optional<CompletionReply>> reply = transcript->replay_reply();
//   if (reply && !*reply) {  // no earlier part has come to this step
//     transcript->prompt(request);
//     if (Result<CompletionReply> fresh = model.complete(request)) transcript->reply(*fresh);
//   }
//
// The lines of a transcript, shortened:
//   {"at_unix_ms":1,"kind":"prompt","system":"...","messages":[{"role":"user","text":"..."}]}
//   {"at_unix_ms":2,"kind":"reply","text":"...","stop_reason":"stop","input_tokens":812,...}
//   {"at_unix_ms":3,"kind":"tool_call","tool":"submit","arguments":{...}}
//   {"at_unix_ms":4,"kind":"tool_result","tool":"submit","is_error":false,"text":"...",...}
//   {"at_unix_ms":5,"kind":"note","text":"..."}
//
// A transcript belongs to one thread.
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

/// Reads the reply in a line of a transcript. Returns nothing for a line of another kind.
std::optional<CompletionReply> reply_of(const nlohmann::json& line);

class Transcript {
 public:
  /// Opens `file` for appending. Creates it and its folder if necessary. Removes an incomplete last
  /// line that a crash left.
  static Result<Transcript> open(const std::filesystem::path& file, const Clock& clock);

  Status prompt(const CompletionRequest& request);
  Status reply(const CompletionReply& reply);
  Status tool_call(const std::string& tool, const nlohmann::json& arguments);
  Status tool_result(const std::string& tool, bool is_error, const std::string& text,
                     const nlohmann::json& structured);
  Status note(const std::string& text);

  /// Returns the reply that the earlier part of the attempt got at this point. Returns nothing
  /// after the end of the earlier part. corrupt if the earlier part took another step here.
  Result<std::optional<CompletionReply>> replay_reply();
  /// Returns the result that the earlier part got for this call, like replay_reply(). An
  /// interrupted call without a result is skipped, so that it is made again.
  Result<std::optional<mcp::ToolResult>> replay_tool(const std::string& tool,
                                                     const nlohmann::json& arguments);
  /// True while steps of the earlier part remain.
  bool is_replaying() const { return !earlier_.empty(); }
  /// All replies that the earlier part paid for.
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

  std::deque<nlohmann::json> earlier_;  // lines of the earlier part that remain
  std::vector<CompletionReply> earlier_replies_;
};

}  // namespace assay::agents
