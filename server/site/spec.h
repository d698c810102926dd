// Writes an operator as the site's data: the parts of its specification that agents may see. Hidden
// cases, distributions of inputs and the oracle are left out. Pure functions.
//
//   const nlohmann::ordered_json line = operator_line(op);  // for lists
//   const nlohmann::ordered_json spec = operator_spec(op);  // for the operator's page
#pragma once

#include "base/json.h"
#include "operators/catalog.h"

namespace assay::site {

/// Returns the operator's name, split, family, difficulty, dialect, baseline and summary.
nlohmann::ordered_json operator_line(const operators::Operator& op);

/// Returns the description, the signature, the arguments, the outputs with their tolerances, the
/// public cases, the number of hidden cases, the reference and, for an imported operator, where it
/// comes from. The reference is "" if it is a solution.
nlohmann::ordered_json operator_spec(const operators::Operator& op);

}  // namespace assay::site
