// The figures that a recording shows without a run: the kernels with their occupancy, hints about
// their speed, and artifacts. A compile job consists of them. On the CPU they accompany a verdict,
// and a GPU job adds them before it launches.
//
//   add_static_figures(run.verdict(), std::move(results), "cuda:90", cost_bytes, keep_artifacts);
//   std::vector<Hint> hints = static_hints(kernels, "cuda:90", "large", cost_bytes);
//
// A hint is one sentence with the number that shows the problem and the change that helps. A hint
// of the kind would_be_slow marks a submission that would use only a small part of a GPU; reports
// label such a pass "pass, slow". compile_job() belongs to the job's thread; the other functions
// are pure.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sandbox/job/job.h"
#include "sandbox/record/candidate_run.h"
#include "sandbox/record/case_io.h"

namespace assay::sandbox {

/// Fills in occupancy and its limiter from the kernel's own figures. Does nothing for a kernel of
/// an unknown target.
void fill_occupancy(KernelReport& kernel);

/// Returns hints about kernels that were recorded for the case `case_id`. `cost_bytes` is the least
/// traffic of that case; 0 when unknown.
std::vector<Hint> static_hints(const std::vector<KernelReport>& kernels, std::string_view target,
                               const std::string& case_id, double cost_bytes);

/// Returns the job under a new id and with only one case, from which static figures are taken: its
/// largest public case, or its largest case where none is public. A job without cases keeps none.
Job largest_case_only(const Job& job);

/// Adds kernels (with their occupancy), hints and artifacts of a recording to the verdict.
void add_static_figures(Verdict& verdict, CandidateResults results, const std::string& target,
                        double cost_bytes, bool keep_artifacts);

/// Runs a compile job: records the largest case, or every case if the job wants that, for each of
/// its targets or for `default_target`.
void compile_job(JobExecution& run, CandidatePool& pool, Judge& judge,
                 const std::string& default_target);

}  // namespace assay::sandbox
