// Finds out about a kernel's speed without running it: from its resources, its grid and the least
// traffic of the case.
//
//   std::vector<Hint> hints = static_hints(kernels, "cuda:90", "large", cost_bytes);
//
// A hint is one sentence with the number that shows it and what to change. A hint of the kind
// would_be_slow marks a submission that a GPU would run far below what it can do; reports label
// such a pass "pass, slow". Pure functions.
//
// Recording: compiling a submission for a target and writing down what it would launch, without a
// GPU. What every device does for `compile`, the CPU for figures beside a verdict, and a GPU before
// it launches.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sandbox/job/job.h"
#include "sandbox/record/candidate_run.h"
#include "sandbox/record/case_io.h"

namespace assay::sandbox {

/// Fills occupancy and its limiter from the kernel's own figures; leaves a kernel of an unknown
/// target as it is.
void fill_occupancy(KernelReport& kernel);

/// Returns hints about kernels that were recorded for the case `case_id`. `cost_bytes` is the least
/// traffic of that case; 0 when unknown.
std::vector<Hint> static_hints(const std::vector<KernelReport>& kernels, std::string_view target,
                               const std::string& case_id, double cost_bytes);

/// The job with only its largest public case (any case where none is public), under an id of its
/// own: what static figures are taken from. A job without cases stays without.
Job largest_case_only(const Job& job);

/// Adds kernels (with their occupancy), hints and artifacts of a recording to the verdict.
void add_static_figures(Verdict& verdict, CandidateResults results, const std::string& target,
                        double cost_bytes, bool keep_artifacts);

/// A whole compile job: its targets, or `default_target`, one after the other, on the largest case.
void compile_job(JobExecution& run, CandidatePool& pool, Judge& judge,
                 const std::string& default_target);

}  // namespace assay::sandbox
