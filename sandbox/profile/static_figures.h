// Computes the figures that a recording shows without a run: the kernels with their occupancy,
// hints about their speed, and artifacts. These figures are the whole result of a compile job. On
// the CPU they accompany a verdict. A GPU job adds them to its verdict before the submission is
// timed.
//
//   add_static_figures(run.verdict(), std::move(results), "cuda:90", cost_bytes, keep_artifacts);
//   std::vector<Hint> hints = static_hints(kernels, "cuda:90", "large", cost_bytes);
//
// A hint is one sentence with the number that shows the problem and the change that helps. A hint
// of the kind would_be_slow marks a submission that would use only a small part of a GPU. Reports
// show a pass with this hint as "pass, slow". compile_job() belongs to the job's thread. The other
// functions are pure.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sandbox/job/job.h"
#include "sandbox/record/candidate_run.h"
#include "sandbox/record/case_io.h"

namespace assay::sandbox {

/// Sets the kernel's occupancy and the resource that limits it, both computed from the kernel's own
/// figures. Does nothing if the kernel's target is unknown.
void fill_occupancy(KernelReport& kernel);

/// Returns hints about kernels that were recorded for the case `case_id`. `cost_bytes` is the least
/// traffic of this case, or 0 if it is unknown.
std::vector<Hint> static_hints(const std::vector<KernelReport>& kernels, std::string_view target,
                               const std::string& case_id, double cost_bytes);

/// Returns the job under a new id and with only one case, for static figures. It is the largest
/// public case. If no case is public, it is the largest case. If the job has no cases, the result
/// has none either.
Job largest_case_only(const Job& job);

/// Adds the kernels (with their occupancy), the hints and the artifacts of a recording to the
/// verdict.
void add_static_figures(Verdict& verdict, CandidateResults results, const std::string& target,
                        double cost_bytes, bool keep_artifacts);

/// Runs a compile job. It records the largest case, or every case if the job requests that. It does
/// so for each target of the job, or for `default_target` if the job names none.
void compile_job(JobExecution& run, CandidatePool& pool, Judge& judge,
                 const std::string& default_target);

}  // namespace assay::sandbox
