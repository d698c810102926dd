// A Transcript is what a model and an agent said and did in one attempt at an operator, in the form
// that stores, bundles and sites keep: the texts of prompts and replies, the arguments and the
// answers of tool calls, and notes. Everything in it is what a client saw, so it has nothing about
// hidden cases. It has no secrets (redact.h), no handle of the run, and times in whole seconds. The
// format is assay.transcript/1 (docs/reference/transcript.md).
//
//   ASSAY_TRY(transcript, read_bench_transcript(file, Redactor::of_environment()));
//   const std::string text = transcript_text(transcript);
//   ASSAY_TRY(same, parse_transcript(text));
//
// A stored transcript is untrusted: parse_transcript() accepts any bytes. Thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "server/transcripts/redact.h"

namespace assay::transcripts {

inline constexpr const char* kTranscriptFormat = "assay.transcript/1";

/// Limits of a transcript. docs/reference/limits.md describes them.
struct TranscriptLimits {
  std::size_t step_bytes = 32U << 10;     // of the text of one step; the middle is cut out
  std::size_t all_bytes = 512U << 10;     // of all texts; later steps are left out
  std::size_t steps = 4'000;              // later steps are left out
  std::uintmax_t file_bytes = 64U << 20;  // of a file that is read; a larger one is refused
  int depth = 64;                         // levels of JSON
};

enum class StepKind { prompt, reply, call, answer, note };
std::string_view to_string(StepKind kind);

struct TranscriptStep {
  StepKind kind = StepKind::note;
  std::int64_t at_s = 0;  // whole seconds since the first step
  /// The role of a prompt ("system", "user"), why a reply ended, or the tool of a call or an
  /// answer.
  std::string name = {};
  std::string text = {};
  std::string job = {};   // of an answer: the handle of its job; empty: it has none
  bool is_error = false;  // of an answer: the call was refused
  std::int64_t input_tokens = 0, output_tokens = 0;  // of a reply
};

struct Transcript {
  std::vector<TranscriptStep> steps;
  std::size_t left_out = 0;  // steps after these, which a limit left out
};

/// Reads a transcript that a bench wrote (reference_agents/core/transcript.h). A message of a
/// prompt that the prompt before it also had is not repeated. An incomplete last line is ignored.
/// Errors: not_found if there is no file; resource_exhausted if it is too large; corrupt if a line
/// is no JSON object.
Result<Transcript> read_bench_transcript(const std::filesystem::path& file,
                                         const Redactor& redactor,
                                         const TranscriptLimits& limits = {});

/// Returns the transcript within the limits.
Transcript bounded(Transcript transcript, const TranscriptLimits& limits);

nlohmann::json transcript_json(const Transcript& transcript);
std::string transcript_text(const Transcript& transcript);

/// Reads what transcript_json() wrote. Errors: corrupt if a member is missing or has another type;
/// resource_exhausted if it is beyond a limit.
Result<Transcript> transcript_from(const nlohmann::json& document,
                                   const TranscriptLimits& limits = {});
/// The same for a text, which can be anything.
Result<Transcript> parse_transcript(std::string_view text, const TranscriptLimits& limits = {});

}  // namespace assay::transcripts
