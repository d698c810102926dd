#include "server/report/model/label.h"

#include <algorithm>
#include <string_view>

namespace assay::report {
namespace {

using sandbox::ErrorKind;
using sandbox::Outcome;
using sandbox::Stage;

}  // namespace

std::string_view to_string(Label label) {
  switch (label) {
    case Label::pass: return "pass";
    case Label::slow: return "pass, slow";
    case Label::wrong: return "wrong";
    case Label::no_compile: return "does not compile";
    case Label::error: return "error";
    case Label::needs_gpu: return "needs a GPU";
    case Label::missing: return "not submitted";
    case Label::no_code: return "no_code";
    case Label::truncated: return "truncated";
  }
  return "error";
}

std::string slow_hint(const std::vector<sandbox::Hint>& hints) {
  const auto found = std::find_if(hints.begin(), hints.end(), [](const sandbox::Hint& hint) {
    return hint.kind == sandbox::HintKind::would_be_slow;
  });
  return found == hints.end() ? "" : found->text;
}

Label label_of(Outcome outcome, ErrorKind kind, Stage stage,
               const std::vector<sandbox::Hint>& hints) {
  if (outcome == Outcome::pass) return slow_hint(hints).empty() ? Label::pass : Label::slow;
  if (kind == ErrorKind::unsupported) return Label::needs_gpu;
  if (kind == ErrorKind::wrong_result || kind == ErrorKind::output_mismatch ||
      kind == ErrorKind::hidden_case)
    return Label::wrong;
  const bool refused_by_a_compiler = kind == ErrorKind::compilation_error ||
                                     kind == ErrorKind::syntax_error ||
                                     kind == ErrorKind::indentation_error;
  if (refused_by_a_compiler || stage == Stage::compile) return Label::no_compile;
  return Label::error;
}

namespace {

constexpr std::string_view kReplayOf = "replay of ";

}  // namespace

ModelLabel parse_model_label(const std::string& label) {
  if (!label.ends_with(kNoModelMark)) return {AnsweredBy::model, label};
  std::string name = label.substr(0, label.size() - kNoModelMark.size());
  name.erase(name.find_last_not_of(' ') + 1);
  if (name.starts_with(kReplayOf)) return {AnsweredBy::recording, name.substr(kReplayOf.size())};
  return {AnsweredBy::script, name};
}

const char* note_of(AnsweredBy answered_by) {
  switch (answered_by) {
    case AnsweredBy::model: return "";
    case AnsweredBy::script:
      return "No model answered: this shows that Assay works, says nothing about any model, and is "
             "never ranked.";
    case AnsweredBy::recording:
      return "A replay: recorded replies, graded anew without a model. It is never ranked.";
  }
  return "";
}

std::string replay_label(const std::string& model) {
  return agents::label_without_model(std::string(kReplayOf) + parse_model_label(model).name);
}

}  // namespace assay::report
