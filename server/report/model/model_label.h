// Parses the model label of a run, which tells whether a model answered at all. The label of an
// agent without a model ends with "(no model)": reports show that and never rank such a run. Pure
// functions.
//
//   parse_model_label("replay of openai:gpt-5 (no model)").answered_by  ->  AnsweredBy::recording
#pragma once

#include <string>

namespace assay::report {

enum class AnsweredBy {
  model,
  script,     // scripted or simulated: no model answered
  recording,  // a replay: a model answered when the recording was made
};

struct ModelLabel {
  AnsweredBy answered_by = AnsweredBy::model;
  std::string name;  // without the marks: "openai:gpt-5", "sim:7"
};

/// Parses a label such as "openai:gpt-5", "sim:7 (no model)" or a replay_label().
ModelLabel parse_model_label(const std::string& label);

/// The sentence above a report for which no model answered; "" if a model did.
const char* note_of(AnsweredBy answered_by);

/// The label of a replay of the answers of `model`: "replay of openai:gpt-5 (no model)".
std::string replay_label(const std::string& model);

}  // namespace assay::report
