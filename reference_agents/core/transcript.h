// Transcript is the file of all prompts, replies and tool calls of one attempt, in order. Each line
// of the file is one JSON object. Each line is written before the next step, and each reply is
// synced to the disk. So an interrupted attempt can continue without paying for a reply twice, and
// a finished attempt can be replayed without a model. A continued attempt gets the results of its
// earlier part from the transcript, step by step. This works because an agent's steps depend only
// on replies and tool results.
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
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/json.h"
#include "base/result.h"
#include "base/unique_fd.h"
#include "reference_agents/llm/llm_client.h"
#include "server/mcp/client/client.h"

namespace assay::agents {

/// The argument that names a charged call, so that a continued attempt can repeat the call.
inline constexpr const char* kCallId = "call_id";

/// Returns the reply in a line of a transcript, or nothing if the line is not a reply.
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
  /// after the end of the earlier part. Errors: corrupt if the earlier part took another step at
  /// this point.
  Result<std::optional<CompletionReply>> replay_reply();
  /// Returns the result that the earlier part of the attempt got for this call. Returns nothing, or
  /// an error, under the same conditions as replay_reply(). An interrupted call without a result is
  /// skipped, so that the agent makes the call again.
  Result<std::optional<mcp::ToolResult>> replay_tool(const std::string& tool,
                                                     const nlohmann::json& arguments);
  /// Returns true while steps of the earlier part remain.
  bool is_replaying() const { return !earlier_.empty(); }
  /// Returns the first part of the ids of the attempt's charged calls. All parts of an attempt have
  /// the same one. An attempt that begins again without its transcript has another one, because its
  /// calls are others.
  const std::string& call_prefix() const { return call_prefix_; }
  /// Returns all replies of the model that the earlier part of the transcript contains.
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

  std::deque<nlohmann::json> earlier_;  // the remaining lines of the earlier part
  std::vector<CompletionReply> earlier_replies_;
  std::string call_prefix_;
};

}  // namespace assay::agents
