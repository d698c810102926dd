#include "server/transcripts/transcript.h"

#include <algorithm>
#include <array>
#include <fstream>
#include <optional>
#include <sstream>
#include <system_error>
#include <utility>

#include "base/json_depth.h"
#include "base/text.h"

namespace assay::transcripts {
namespace {

using nlohmann::json;

constexpr std::array kKinds = {StepKind::prompt, StepKind::reply, StepKind::call, StepKind::answer,
                               StepKind::note};
constexpr std::int64_t kMsPerS = 1'000;
constexpr std::int64_t kMostSeconds = 100 * 366 * 86'400LL;
constexpr std::int64_t kMostTokens = std::int64_t{1} << 50;
constexpr std::size_t kNameBytes = 200;
constexpr const char* kRunArgument = "run";  // the handle of the run gives access to it

std::string text_of(const json& object, const char* key) {
  const auto found = object.is_object() ? object.find(key) : object.end();
  return object.is_object() && found != object.end() && found->is_string()
             ? found->get<std::string>()
             : std::string();
}

/// Returns an integer between 0 and `most`; 0 for anything else.
std::int64_t number_of(const json& object, const char* key, std::int64_t most) {
  const auto found = object.is_object() ? object.find(key) : object.end();
  if (!object.is_object() || found == object.end() || !found->is_number_integer()) return 0;
  if (found->is_number_unsigned() && found->get<std::uint64_t>() > static_cast<std::uint64_t>(most))
    return 0;
  const std::int64_t value = found->get<std::int64_t>();
  return value >= 0 && value <= most ? value : 0;
}

/// Returns the arguments of a call as lines "name: value". A value with several lines stands below
/// its name.
std::string arguments_text(const json& arguments) {
  if (!arguments.is_object()) return "";
  std::string text;
  for (const auto& [name, value] : arguments.items()) {
    if (name == kRunArgument) continue;
    const std::string shown = value.is_string() ? value.get<std::string>() : json_text(value);
    if (!text.empty()) text += '\n';
    text += name + (shown.find('\n') == std::string::npos ? ": " : ":\n") + shown;
  }
  return text;
}

/// Turns the lines of a bench's transcript into steps.
class BenchReader {
 public:
  explicit BenchReader(const Redactor& redactor) : redactor_(redactor) {}

  void add(const json& line) {
    const std::int64_t at_ms = number_of(line, "at_unix_ms", kMostSeconds * kMsPerS);
    if (!first_ms_) first_ms_ = at_ms;
    at_s_ = std::max<std::int64_t>(0, at_ms - *first_ms_) / kMsPerS;
    const std::string kind = text_of(line, "kind");
    if (kind == "prompt") add_prompt(line);
    if (kind == "reply") {
      TranscriptStep& step =
          add_step(StepKind::reply, text_of(line, "stop_reason"), text_of(line, "text"));
      step.input_tokens = number_of(line, "input_tokens", kMostTokens);
      step.output_tokens = number_of(line, "output_tokens", kMostTokens);
    }
    if (kind == "tool_call")
      add_step(StepKind::call, text_of(line, "tool"),
               line.contains("arguments") ? arguments_text(line["arguments"]) : "");
    if (kind == "tool_result") {
      TranscriptStep& step =
          add_step(StepKind::answer, text_of(line, "tool"), text_of(line, "text"));
      step.is_error = line.contains("is_error") && line["is_error"] == true;
      if (line.contains("structured")) step.job = text_of(line["structured"], "job");
    }
    if (kind == "note") add_step(StepKind::note, "", text_of(line, "text"));
  }
  Transcript transcript() && { return std::move(transcript_); }

 private:
  void add_prompt(const json& line) {
    std::vector<std::pair<std::string, std::string>> messages = {
        {"system", text_of(line, "system")}};
    if (line.contains("messages") && line["messages"].is_array()) {
      for (const json& message : line["messages"])
        messages.emplace_back(text_of(message, "role"), text_of(message, "text"));
    }
    std::size_t same = 0;
    while (same < std::min(messages.size(), earlier_.size()) && messages[same] == earlier_[same])
      ++same;
    if (same == messages.size() && !messages.empty()) --same;  // the prompt was sent again
    for (std::size_t i = same; i < messages.size(); ++i) {
      if (!messages[i].second.empty())
        add_step(StepKind::prompt, messages[i].first, messages[i].second);
    }
    earlier_ = std::move(messages);
  }

  TranscriptStep& add_step(StepKind kind, const std::string& name, const std::string& text) {
    TranscriptStep step;
    step.kind = kind;
    step.at_s = at_s_;
    step.name = cut_end(redactor_.redacted(name), kNameBytes);
    step.text = redactor_.redacted(text);
    transcript_.steps.push_back(std::move(step));
    return transcript_.steps.back();
  }

  const Redactor& redactor_;
  Transcript transcript_;
  std::optional<std::int64_t> first_ms_;
  std::int64_t at_s_ = 0;
  std::vector<std::pair<std::string, std::string>> earlier_;  // role and text, of the last prompt
};

tl::unexpected<Error> refuse(const std::string& why, ErrorCode code = ErrorCode::corrupt) {
  return fail(code, "the transcript is refused: " + why);
}

/// Checks that the members of a step have their types, and reads them.
Result<TranscriptStep> step_from(const json& document, const TranscriptLimits& limits) {
  if (!document.is_object()) return refuse("a step is no object");
  TranscriptStep step;
  const std::string kind = text_of(document, "kind");
  const auto* const known = std::find_if(kKinds.begin(), kKinds.end(),
                                         [&](StepKind one) { return to_string(one) == kind; });
  if (known == kKinds.end()) return refuse("the kind of a step is unknown");
  step.kind = *known;
  const auto text = document.find("text");
  if (text == document.end() || !text->is_string()) return refuse("a step has no text");
  step.at_s = number_of(document, "at_s", kMostSeconds);
  step.name = text_of(document, "name");
  step.text = text->get<std::string>();
  step.job = text_of(document, "job");
  step.is_error = document.contains("is_error") && document["is_error"] == true;
  step.input_tokens = number_of(document, "input_tokens", kMostTokens);
  step.output_tokens = number_of(document, "output_tokens", kMostTokens);
  if (std::max(step.name.size(), step.job.size()) > kNameBytes ||
      step.text.size() > limits.step_bytes)
    return refuse("a text is too long", ErrorCode::resource_exhausted);
  return step;
}

}  // namespace

std::string_view to_string(StepKind kind) {
  switch (kind) {
    case StepKind::prompt: return "prompt";
    case StepKind::reply: return "reply";
    case StepKind::call: return "call";
    case StepKind::answer: return "answer";
    case StepKind::note: break;
  }
  return "note";
}

Result<Transcript> read_bench_transcript(const std::filesystem::path& file,
                                         const Redactor& redactor, const TranscriptLimits& limits) {
  std::error_code error;
  const std::uintmax_t size = std::filesystem::file_size(file, error);
  if (error) return fail(ErrorCode::not_found, "there is no transcript " + file.string());
  if (size > limits.file_bytes)
    return fail(ErrorCode::resource_exhausted,
                file.string() + " has more than " + std::to_string(limits.file_bytes) + " bytes");
  std::ifstream stream(file, std::ios::binary);
  if (!stream) return fail_errno("open " + file.string());
  BenchReader reader(redactor);
  for (std::string text; std::getline(stream, text) && !stream.eof();) {
    const json line = json::parse(text, nullptr, false);
    if (!line.is_object())
      return fail(ErrorCode::corrupt, file.string() + ": a line is not a JSON object");
    reader.add(line);
  }
  return bounded(std::move(reader).transcript(), limits);
}

Transcript bounded(Transcript transcript, const TranscriptLimits& limits) {
  std::size_t bytes = 0, kept = 0;
  for (TranscriptStep& step : transcript.steps) {
    if (step.text.size() > limits.step_bytes) step.text = cut_middle(step.text, limits.step_bytes);
    bytes += step.text.size();
    if (kept == limits.steps || bytes > limits.all_bytes) break;
    ++kept;
  }
  transcript.left_out += transcript.steps.size() - kept;
  transcript.steps.resize(kept);
  return transcript;
}

json transcript_json(const Transcript& transcript) {
  json steps = json::array();
  for (const TranscriptStep& step : transcript.steps) {
    json one = {{"kind", to_string(step.kind)}, {"at_s", step.at_s}, {"text", step.text}};
    if (!step.name.empty()) one["name"] = step.name;
    if (!step.job.empty()) one["job"] = step.job;
    if (step.is_error) one["is_error"] = true;
    if (step.kind == StepKind::reply) {
      one["input_tokens"] = step.input_tokens;
      one["output_tokens"] = step.output_tokens;
    }
    steps.push_back(std::move(one));
  }
  return {{"format", kTranscriptFormat},
          {"steps", std::move(steps)},
          {"left_out", transcript.left_out}};
}

std::string transcript_text(const Transcript& transcript) {
  return json_text(transcript_json(transcript));
}

Result<Transcript> transcript_from(const json& document, const TranscriptLimits& limits) {
  if (text_of(document, "format") != kTranscriptFormat)
    return refuse(std::string("its format is not ") + kTranscriptFormat);
  const auto steps = document.find("steps");
  if (steps == document.end() || !steps->is_array()) return refuse("it has no steps");
  if (steps->size() > limits.steps)
    return refuse("it has too many steps", ErrorCode::resource_exhausted);
  Transcript transcript;
  std::size_t bytes = 0;
  for (const json& one : *steps) {
    ASSAY_TRY(step, step_from(one, limits));
    bytes += step.text.size();
    if (bytes > limits.all_bytes)
      return refuse("its texts are too long", ErrorCode::resource_exhausted);
    transcript.steps.push_back(std::move(step));
  }
  constexpr std::int64_t kMostLeftOut = std::int64_t{1} << 40;
  transcript.left_out = static_cast<std::size_t>(number_of(document, "left_out", kMostLeftOut));
  return transcript;
}

Result<Transcript> parse_transcript(std::string_view text, const TranscriptLimits& limits) {
  const Result<json> document = parse_json(text, limits.depth);
  if (!document) return refuse("it " + document.error().message);
  return transcript_from(*document, limits);
}

}  // namespace assay::transcripts
