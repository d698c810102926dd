// Chooses the cases of a job that Triton's interpreter can run.
//
//   Job small = run.job();
//   small.cases = choose_cases(run.job(), run.verdict());  // the verdict names the other cases
//
// The function is thread-safe.
#pragma once

#include <vector>

#include "sandbox/job/job.h"

namespace assay::sandbox {

/// Says why a case of an imported operator cannot be judged without a GPU. Only these have an
/// adapter. If they have an oracle too, the benchmark's own kernel is both oracle and reference.
inline constexpr const char* kReferenceNeedsGpu =
    "its reference, the benchmark's own kernel, needs a GPU";

/// Returns the cases that the interpreter can run. Adds the other cases to the verdict as skipped.
std::vector<CaseRequest> choose_cases(const Job& job, Verdict& verdict);

}  // namespace assay::sandbox
