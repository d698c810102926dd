// Which case of an operator a stored plan was recorded for: a plan says how large its arguments are, and nothing else of its case.
//
//   Result<std::string> id = case_of_plan(op, plan);
//
// Pure function.
#pragma once

#include <string>

#include "base/result.h"
#include "operators/catalog.h"
#include "sandbox/launcher/plan.h"

namespace assay::server {

/// The one case whose tensors have the sizes of the plan's inputs. invalid_argument when none or several have, naming what --case can be.
Result<std::string> case_of_plan(const operators::Operator& op, const sandbox::Plan& plan);

}  // namespace assay::server
