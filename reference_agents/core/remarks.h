// When an agent that improves its code should stop, and how it says so. Pure functions.
#pragma once

#include <string>

#include "reference_agents/core/evaluation.h"

namespace assay::agents {

/// False once nothing better can be told from what there is: a budget is used up, or the code is
/// correct where nothing is timed.
inline bool is_worth_more_work(const Evaluation& best) {
  return !best.refused && (best.level != Level::correct || best.perf.has_value());
}

inline std::string why_no_more_work(const Evaluation& best) {
  if (best.refused)
    return "stopped by the server: " + best.feedback.substr(0, best.feedback.find('\n'));
  return "only correctness was worked for: nothing is timed on this machine";
}

}  // namespace assay::agents
