// Recording: compiling a submission for a target and writing down what it would launch, without a
// GPU. What every device does for `compile`, the CPU for figures beside a verdict, and a GPU before
// it launches.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sandbox/record/candidate_run.h"
#include "sandbox/record/case_io.h"

namespace assay::sandbox {

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
