// RecordedReplies answers in place of a model with the replies in the transcript of an earlier
// attempt. So the same code can be graded again without a model. The agent runs normally: it gets
// the recorded replies turn by turn, and its tool calls are really made. If a verdict differs from
// the recorded verdict, the agent may take a step for which the transcript has no reply. The
// request then fails, and deviation() says why.
//
//   Result<RecordedReplies> replies = RecordedReplies::load(recorded_file, replayed_file, label);
//   MeteredClient model(*replies, std::nullopt, Spending{});
//   Result<Attempt> attempt = attempt_operator(choice, client, model, transcript, request);
//   Result<std::string> deviation = replies->deviation();  // "" if steps and verdicts are the same
//
// `transcript` writes to `replayed_file`. The recorded file is only read. Two steps are equal if
// they have the same tool, code, outcome and error kind. The text and the numbers of verdicts are
// not compared, because times, handles and the numerical errors on fresh inputs always differ.
//
// An object belongs to one attempt and one thread.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "reference_agents/llm/llm_client.h"

namespace assay::agents {

/// One step of an attempt, without the parts that differ between any two runs.
struct Step {
  std::string what;     // "reply" or the tool's name
  std::string content;  // the reply's text, or the call's code, or the call's arguments
  std::string verdict;  // "fail (wrong_result)", "refused"; empty for a reply
  CompletionReply reply;
};

/// Reads the steps of a transcript. Polls, usage reports, notes and interrupted calls do not count
/// as steps. A last line without a line feed is ignored. Errors: not_found if there is no file;
/// corrupt if a line is not a JSON object.
Result<std::vector<Step>> read_steps(const std::filesystem::path& transcript);

/// Describes the first difference between the two lists of steps, such as "step 4: run_tests ended
/// in fail (wrong_result) there and in pass here". Returns "" if there is no difference. If `whole`
/// is false, `replayed` may have fewer steps than `recorded`.
std::string first_difference(const std::vector<Step>& recorded, const std::vector<Step>& replayed,
                             bool whole);

class RecordedReplies final : public LlmClient {
 public:
  /// Reads the recorded file. If the file does not exist, every request fails.
  static Result<RecordedReplies> load(const std::filesystem::path& recorded,
                                      std::filesystem::path replayed, std::string label);

  /// Returns the next recorded reply. Errors: not_found if the transcript has no further reply, or
  /// if the steps before the reply differ.
  Result<CompletionReply> complete(const CompletionRequest& request) override;
  std::string label() const override { return label_; }
  bool is_model() const override { return false; }

  /// Returns true if a request has failed.
  bool refused() const { return !refusal_.empty(); }
  /// Describes how the finished attempt differs from the recorded attempt. Returns "" if they do
  /// not differ.
  Result<std::string> deviation() const;

 private:
  RecordedReplies(std::vector<Step> steps, std::filesystem::path replayed, std::string label)
      : steps_(std::move(steps)), replayed_(std::move(replayed)), label_(std::move(label)) {}

  const std::vector<Step> steps_;
  const std::filesystem::path replayed_;
  const std::string label_;
  std::string refusal_;
};

}  // namespace assay::agents
