#include "sandbox/device/interpreted_choice.h"

#include <algorithm>

#include "sandbox/record/record_cases.h"

namespace assay::sandbox {
namespace {

/// Returns the exact reason why a public case is skipped. All hidden cases share one vague reason,
/// because an exact reason would reveal the case's dtype or size.
SkippedCases skipped(const Job& job, const CaseRequest& one) {
  if (one.interpreter)
    return {{one.id},
            0,
            SkipReason::too_many,
            "more than " + std::to_string(kMaxCasesPerCandidate) + " cases"};
  if (one.dtype == "bfloat16" || one.dtype.starts_with("float8"))
    return {{one.id}, 0, SkipReason::dtype, one.dtype + ", which the interpreter cannot run"};
  if (!job.adapter.empty() && job.baseline == Baseline::oracle)
    return {{one.id}, 0, SkipReason::reference, kReferenceNeedsGpu};
  return {{one.id}, 0, SkipReason::too_large, "too large for the interpreter"};
}

}  // namespace

std::vector<CaseRequest> choose_cases(const Job& job, Verdict& verdict) {
  std::vector<CaseRequest> chosen;
  for (const CaseRequest& one : job.cases) {
    if (one.interpreter && chosen.size() < kMaxCasesPerCandidate) {
      chosen.push_back(one);
    } else if (!one.hidden) {
      verdict.skipped_cases.push_back(skipped(job, one));
    }
  }
  const auto hidden = std::count_if(job.cases.begin(), job.cases.end(), [](const CaseRequest& one) {
    return one.hidden && !one.interpreter;
  });
  if (hidden > 0)
    verdict.skipped_cases.push_back(
        {{}, hidden, SkipReason::hidden, "too large or of a type that the interpreter cannot run"});
  return chosen;
}

}  // namespace assay::sandbox
