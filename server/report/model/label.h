// Defines two kinds of labels in a report. A Label says how a submission ended. A ModelLabel says
// what answered the prompts in a run. If no model answered, the label of the model ends with "(no
// model)". Reports show this label, and never rank such a run. Pure functions.
//
//   parse_model_label("replay of openai:gpt-5 (no model)").answered_by;  // AnsweredBy::recording
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "reference_agents/llm/llm_client.h"
#include "sandbox/job/job.h"

namespace assay::report {

/// The text at the end of a model label if no model answered in the run.
using agents::kNoModelMark;

/// `no_code` and `truncated` are attempts of a bench without a submission: no reply of the model
/// held code, or the last reply was cut off. Only the journal of the bench knows this.
enum class Label { pass, slow, wrong, no_compile, error, needs_gpu, missing, no_code, truncated };

/// Returns "pass", "pass, slow", "wrong", "does not compile", "error", "needs a GPU", "not
/// submitted", "no_code" or "truncated".
std::string_view to_string(Label label);

Label label_of(sandbox::Outcome outcome, sandbox::ErrorKind kind, sandbox::Stage stage,
               const std::vector<sandbox::Hint>& hints);

/// If a hint says that the passing submission is probably slow, returns the hint's text. Otherwise
/// returns "".
std::string slow_hint(const std::vector<sandbox::Hint>& hints);

enum class AnsweredBy {
  model,
  script,     // a script or a simulation: no model answered
  recording,  // a replay: a model answered when the recording was made
};

struct ModelLabel {
  AnsweredBy answered_by = AnsweredBy::model;
  std::string name;  // the name without "(no model)": "openai:gpt-5", "sim:7"
};

/// Parses a label such as "openai:gpt-5", "sim:7 (no model)" or the result of replay_label().
ModelLabel parse_model_label(const std::string& label);

/// Returns the sentence that a report shows at its top if no model answered. Returns "" if a model
/// answered.
const char* note_of(AnsweredBy answered_by);

/// Returns the model label of a run that replays recorded answers of `model`, such as "replay of
/// openai:gpt-5 (no model)".
std::string replay_label(const std::string& model);

}  // namespace assay::report
