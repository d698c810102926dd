// Which case of an operator a stored plan was recorded for: a plan says how large its arguments
// are, and nothing else of its case.
//
//   Result<std::string> id = case_of_plan(op, plan);
//
// Pure function.
#pragma once

#include <string>

#include "base/result.h"
#include "operators/catalog.h"
#include "sandbox/launcher/plan/plan.h"

namespace assay::server {

/// What `--plan` was given: "square=plans/square.plan" names its case, "plans/square.plan" does
/// not.
struct NamedPlan {
  std::string case_id;  // empty: by its sizes
  std::string where;
};
NamedPlan named_plan(const operators::Operator& op, const std::string& word);

/// The one case whose tensors have the sizes of the plan's inputs. invalid_argument when none or
/// several have, naming the cases.
Result<std::string> case_of_plan(const operators::Operator& op, const sandbox::Plan& plan);

}  // namespace assay::server
