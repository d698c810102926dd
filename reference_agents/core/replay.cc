#include "reference_agents/core/replay.h"

#include <algorithm>
#include <fstream>
#include <map>
#include <system_error>

#include "base/json.h"
#include "base/text_edits.h"
#include "reference_agents/core/evaluation.h"
#include "reference_agents/core/transcript.h"
#include "reference_agents/llm/json_fields.h"

namespace assay::agents {
namespace {

using nlohmann::json;

constexpr const char* kReply = "reply";

/// Returns true for the tools that only follow a job or report usage and scores. Their calls do not
/// count as steps, because their number differs between two runs of the same attempt.
bool is_bookkeeping(const std::string& tool) {
  return tool == "job" || tool == "report_usage" || tool == "scorecard";
}

std::string verdict_of(const json& line) {
  const json* structured = field(line, "structured");
  const std::string outcome =
      structured == nullptr ? "" : string_field(verdict_in(*structured), "outcome");
  const std::string kind =
      structured == nullptr ? "" : string_field(verdict_in(*structured), "error_kind");
  if (!outcome.empty())
    return kind.empty() || kind == "none" ? outcome : outcome + " (" + kind + ")";
  const json* is_error = field(line, "is_error");
  return is_error != nullptr && is_error->is_boolean() && is_error->get<bool>() ? "refused" : "";
}

/// Collects the steps of a transcript, line by line.
class StepReader {
 public:
  void add(const json& line);
  std::vector<Step> steps() && { return std::move(steps_); }

 private:
  std::string content_of(json arguments) const;
  void add_result(const json& line);

  std::vector<Step> steps_;
  std::map<std::string, std::string> code_of_job_;
};

/// Returns the code of a call: that of its arguments or, if they name an earlier job, the code of
/// this job with the call's edits. If there is no code, returns all arguments except the run's
/// handle.
std::string StepReader::content_of(json arguments) const {
  if (!arguments.is_object()) return "";
  std::string code = string_field(arguments, "code");
  if (!code.empty()) return code;
  const auto earlier = code_of_job_.find(string_field(arguments, "source"));
  if (earlier != code_of_job_.end()) {
    const std::string edits = string_field(arguments, "edits");
    if (edits.empty()) return earlier->second;
    const Result<std::vector<Edit>> parsed = parse_edits(edits);
    if (Result<std::string> changed =
            parsed ? apply_edits(earlier->second, *parsed) : fail(parsed.error()))
      return *changed;
  }
  arguments.erase("run");
  return arguments.dump(-1, ' ', false, json::error_handler_t::replace);
}

void StepReader::add(const json& line) {
  const std::string kind = string_field(line, "kind");
  const std::string tool = string_field(line, "tool");
  if (kind == "tool_call" && !is_bookkeeping(tool)) {
    const json* arguments = field(line, "arguments");
    Step step{tool, arguments == nullptr ? "" : content_of(*arguments), "", {}};
    // Two equal calls in a row count as one step. The agent repeated the call because the first
    // call was interrupted, because the server failed, or because the server no longer had the
    // source that the first call named.
    const bool again =
        !steps_.empty() && steps_.back().what == step.what && steps_.back().content == step.content;
    if (!again) steps_.push_back(std::move(step));
  } else if (kind == "tool_result" && !steps_.empty() && steps_.back().what != kReply &&
             (tool == "job" || !is_bookkeeping(tool))) {
    add_result(line);
  } else if (std::optional<CompletionReply> reply = reply_of(line)) {
    steps_.push_back({kReply, reply->text, "", *reply});
  }
}

void StepReader::add_result(const json& line) {
  const json* structured = field(line, "structured");
  const std::string job = structured == nullptr ? "" : string_field(*structured, "job");
  if (!job.empty()) code_of_job_[job] = steps_.back().content;
  const std::string verdict = verdict_of(line);
  if (!verdict.empty()) steps_.back().verdict = verdict;
}

std::string name_of(const Step& step) {
  return step.what == kReply ? "a request to the model" : step.what;
}

}  // namespace

Result<std::vector<Step>> read_steps(const std::filesystem::path& transcript) {
  std::ifstream stream(transcript, std::ios::binary);
  if (!stream) return fail(ErrorCode::not_found, "there is no transcript " + transcript.string());
  StepReader reader;
  for (std::string text; std::getline(stream, text) && !stream.eof();) {
    const json line = json::parse(text, nullptr, false);
    if (!line.is_object())
      return fail(ErrorCode::corrupt, transcript.string() + ": a line is not a JSON object");
    reader.add(line);
  }
  return std::move(reader).steps();
}

std::string first_difference(const std::vector<Step>& recorded, const std::vector<Step>& replayed,
                             bool whole) {
  for (std::size_t i = 0; i < std::min(recorded.size(), replayed.size()); ++i) {
    const Step& there = recorded[i];
    const Step& here = replayed[i];
    const std::string at = "step " + std::to_string(i + 1) + ": ";
    if (there.what != here.what)
      return at + name_of(there) + " there and " + name_of(here) + " here";
    if (there.content != here.content) return at + name_of(here) + " with other content";
    if (there.verdict == here.verdict) continue;
    const auto shown = [](const Step& step) {
      return step.verdict.empty() ? std::string("no verdict") : step.verdict;
    };
    return at + here.what + " ended in " + shown(there) + " there and in " + shown(here) + " here";
  }
  if (replayed.size() > recorded.size())
    return "step " + std::to_string(recorded.size() + 1) + ": " +
           name_of(replayed[recorded.size()]) + " here, the end there";
  if (whole && replayed.size() < recorded.size())
    return "step " + std::to_string(replayed.size() + 1) + ": the end here, " +
           name_of(recorded[replayed.size()]) + " there";
  return "";
}

Result<RecordedReplies> RecordedReplies::load(const std::filesystem::path& recorded,
                                              std::filesystem::path replayed, std::string label) {
  std::error_code error;
  if (!std::filesystem::exists(recorded, error))
    return RecordedReplies({}, std::move(replayed), std::move(label));
  Result<std::vector<Step>> steps = read_steps(recorded);
  if (!steps) return fail(steps.error());
  return RecordedReplies(std::move(*steps), std::move(replayed), std::move(label));
}

Result<CompletionReply> RecordedReplies::complete(const CompletionRequest& request) {
  Result<std::vector<Step>> so_far = read_steps(replayed_);
  if (!so_far) return fail(so_far.error());
  const std::size_t taken = so_far->size();
  if (taken > steps_.size()) so_far->resize(steps_.size());
  refusal_ = first_difference(steps_, *so_far, false);
  const std::string turn = std::to_string(request.turn + 1);
  if (!refusal_.empty()) {
    refusal_ = "other steps than the transcript's before request " + turn + ": " + refusal_;
  } else if (taken >= steps_.size()) {
    refusal_ = "the transcript has no reply to request " + turn;
  } else if (steps_[taken].what != kReply) {
    refusal_ = "other steps than the transcript's: step " + std::to_string(taken + 1) + ": " +
               steps_[taken].what + " there and a request to the model here";
  }
  if (!refusal_.empty()) return fail(ErrorCode::not_found, refusal_);
  return steps_[taken].reply;
}

Result<std::string> RecordedReplies::deviation() const {
  if (!refusal_.empty()) return refusal_;
  const Result<std::vector<Step>> taken = read_steps(replayed_);
  if (!taken) return fail(taken.error());
  return first_difference(steps_, *taken, true);
}

}  // namespace assay::agents
