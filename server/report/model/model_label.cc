#include "server/report/model/model_label.h"

#include <string_view>

namespace assay::report {
namespace {

constexpr std::string_view kReplayOf = "replay of ";
constexpr std::string_view kNoModel = "(no model)";

}  // namespace

ModelLabel parse_model_label(const std::string& label) {
  if (!label.ends_with(kNoModel)) return {AnsweredBy::model, label};
  std::string name = label.substr(0, label.size() - kNoModel.size());
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
  return std::string(kReplayOf) + parse_model_label(model).name + " " + std::string(kNoModel);
}

}  // namespace assay::report
