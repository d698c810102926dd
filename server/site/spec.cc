#include "server/site/spec.h"

#include <algorithm>

#include "base/baseline.h"
#include "tools/answer/reference_source.h"

namespace assay::site {

using nlohmann::ordered_json;

ordered_json operator_line(const operators::Operator& op) {
  return {{"name", op.name},       {"split", operators::to_string(op.split)},
          {"family", op.family},   {"difficulty", op.difficulty},
          {"dialect", op.dialect}, {"baseline", to_string(op.baseline)},
          {"summary", op.summary}};
}

ordered_json operator_spec(const operators::Operator& op) {
  ordered_json arguments = ordered_json::array();
  for (const operators::Argument& argument : op.arguments)
    arguments.push_back(
        {{"name", argument.name}, {"dtype", argument.dtype}, {"shape", argument.shape}});
  ordered_json outputs = ordered_json::array();
  for (const operators::Output& output : op.outputs)
    outputs.push_back({{"name", output.name},
                       {"dtype", output.dtype},
                       {"shape", output.shape},
                       {"max_abs_error", output.max_abs_error},
                       {"scale", output.scale}});
  ordered_json cases = ordered_json::array();
  for (const operators::Case& item : op.cases) {
    if (item.hidden) continue;
    ordered_json axes = ordered_json::array();
    for (const auto& [name, extent] : item.axes) axes.push_back({name, extent});
    cases.push_back({{"id", item.id}, {"dtype", item.dtype}, {"axes", std::move(axes)}});
  }
  const auto hidden = std::count_if(op.cases.begin(), op.cases.end(),
                                    [](const operators::Case& item) { return item.hidden; });
  return {
      {"name", op.name},
      {"description", op.description},
      {"entry", op.entry},
      {"signature", op.signature},
      {"arguments", std::move(arguments)},
      {"outputs", std::move(outputs)},
      {"cases", std::move(cases)},
      {"hidden_cases", hidden},
      {"reference", op.has_golden_reference() ? "" : tools::shown_reference(op.reference_source)},
      {"origin",
       {{"benchmark", op.provenance.benchmark},
        {"file", op.provenance.file},
        {"revision", op.provenance.revision},
        {"licence", op.provenance.licence}}}};
}

}  // namespace assay::site
