// Replay: an attempt's transcript in the place of its model, so that the same code is graded anew
// without a model. The agent runs as ever: it is handed the recorded replies turn by turn, and its
// tool calls are made again. It decides by replies and verdicts, so a verdict that comes out
// otherwise may lead it elsewhere, where the transcript has no reply for it: then it is refused
// one, and deviation() says why.
//
//   Result<RecordedReplies> replies = RecordedReplies::load(recorded_file, replayed_file, "replay
//   of openai:gpt-5 (no model)"); MeteredClient free_of_charge(*replies, std::nullopt, {});
//   Result<Attempt> attempt = attempt_operator(choice, client, free_of_charge, transcript,
//   request);   // transcript: of replayed_file std::string how = replies->deviation(); // empty:
//   the same steps, the same verdicts
//
// Compared are the steps: tool, code, outcome and kind of error. Words and numbers of verdicts are
// not: they hold times, errors of fresh inputs and handles. Reads the recorded file and changes
// nothing. One per attempt and thread.
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

/// One step of an attempt, without what differs between any two runs.
struct Step {
  std::string what;     // "reply" or the tool's name
  std::string content;  // the reply's text, the code that was sent, or else the arguments
  std::string verdict;  // "fail (wrong_result)", "refused"; empty for a reply
  CompletionReply reply;
};

/// The steps that a transcript holds: polls, usage reports, notes and what was cut short are none.
/// not_found when there is no file, corrupt when a line is no JSON object (a torn last line is
/// dropped).
Result<std::vector<Step>> read_steps(const std::filesystem::path& transcript);

/// "step 4: run_tests ended in fail (wrong_result) there and in pass here"; empty when `replayed`
/// is the same, or its beginning and `whole` is false.
std::string first_difference(const std::vector<Step>& recorded, const std::vector<Step>& replayed,
                             bool whole);

class RecordedReplies final : public LlmClient {
 public:
  /// Without a recorded file every request is refused.
  static Result<RecordedReplies> load(const std::filesystem::path& recorded,
                                      std::filesystem::path replayed, std::string label);

  /// not_found when the transcript has no such reply, or the steps before it were others.
  Result<CompletionReply> complete(const CompletionRequest& request) override;
  std::string label() const override { return label_; }
  bool is_model() const override { return false; }

  /// Whether a request was refused.
  bool refused() const { return !refusal_.empty(); }
  /// To ask once the attempt is over: how it differs from the recorded one; empty: not at all.
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
