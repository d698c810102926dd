// Finds the case of an operator for which a stored plan was recorded. A plan contains the sizes of
// its arguments, but not its case.
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

/// The value of `--plan`: "square=plans/square.plan" names its case, "plans/square.plan" does not.
struct NamedPlan {
  std::string case_id;  // empty: to be found by sizes
  std::string where;
};
NamedPlan named_plan(const operators::Operator& op, const std::string& word);

/// The only case whose tensors have the sizes of the plan's inputs. Error: invalid_argument, naming
/// the cases, if no case or several cases have these sizes.
Result<std::string> case_of_plan(const operators::Operator& op, const sandbox::Plan& plan);

}  // namespace assay::server
