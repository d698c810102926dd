// Chooses the guides that fit an operator.
//
//   fitting_guides(*catalog.find("softmax_last_dim"), "python");
//   // {"triton-pitfalls", "reductions-and-scans"}
//
// Thread-safe: the function has no state.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "operators/catalog.h"

namespace assay::tools {

/// Returns the topics of the guides (operators/guides.h) for this operator and language. The first
/// topic is the most important one.
std::vector<std::string> fitting_guides(const operators::Operator& op, std::string_view language);

}  // namespace assay::tools
