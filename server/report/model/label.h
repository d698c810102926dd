// Defines labels of a report: how a submission ended (Label), and what answered the prompts in a
// run (ModelLabel). The label of an agent without a model ends with "(no model)". Reports show
// this, and never rank such a run. Pure functions.
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

enum class Label { pass, slow, wrong, no_compile, error, needs_gpu, missing };

/// Returns "pass", "pass, slow", "wrong", "does not compile", "error", "needs a GPU" or "not
/// submitted".
std::string_view to_string(Label label);

Label label_of(sandbox::Outcome outcome, sandbox::ErrorKind kind, sandbox::Stage stage,
               const std::vector<sandbox::Hint>& hints);

/// Returns the text of the hint that a passing submission is probably slow, or "".
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

/// Returns the sentence that stands above a report for which no model answered. Returns "" if a
/// model answered.
const char* note_of(AnsweredBy answered_by);

/// Returns the label for a replay of answers of `model`: "replay of openai:gpt-5 (no model)".
std::string replay_label(const std::string& model);

}  // namespace assay::report
