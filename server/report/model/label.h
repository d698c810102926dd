// Labels for how a submission ended, as reports and benches show them. Pure functions.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "sandbox/job/job.h"

namespace assay::report {

enum class Label { pass, slow, wrong, no_compile, error, needs_gpu, missing };

/// "pass", "pass, slow", "wrong", "does not compile", "error", "needs a GPU", "not submitted"
std::string_view to_string(Label label);

Label label_of(sandbox::Outcome outcome, sandbox::ErrorKind kind, sandbox::Stage stage,
               const std::vector<sandbox::Hint>& hints);

/// Returns the text of the hint that a passing submission would be slow, or "".
std::string slow_hint(const std::vector<sandbox::Hint>& hints);

}  // namespace assay::report
