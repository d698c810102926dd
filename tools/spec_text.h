// Describes operators for programs that prompt a model themselves: the text of fetch_spec, and the
// facts by which a program chooses operators. Pure functions, thread-safe.
//
//   const std::string prompt = spec_text(*catalog.find("vector_add"), sandbox::Limits{});
//   const nlohmann::json facts = operator_facts(*catalog.find("vector_add"));  // {"family": ...}
#pragma once

#include <string>

#include "base/json.h"
#include "operators/catalog.h"
#include "sandbox/job/limits.h"
#include "tools/model/services.h"

namespace assay::tools {

/// Returns the text that fetch_spec answers for submissions in Python.
std::string spec_text(const operators::Operator& op, const sandbox::Limits& limits,
                      const AnswerLimits& answers = {});

/// Returns `operator` (the name), `split`, `family`, `dialect`, `difficulty`, `entry`, `summary`.
nlohmann::json operator_facts(const operators::Operator& op);

}  // namespace assay::tools
