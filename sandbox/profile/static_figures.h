// Computes static figures: the facts about kernels that a recording shows without a run on a GPU.
// They are the kernels with their occupancy, hints about their speed, and artifacts. Static figures
// are the whole result of a compile job. The CPU device adds them to its verdicts. A GPU job adds
// them to its verdict before the submission is timed.
//
//   add_static_figures(run.verdict(), std::move(results), "cuda:90", cost_bytes, keep_artifacts);
//   std::vector<Hint> hints = static_hints(kernels, "cuda:90", "large", cost_bytes);
//
// A hint is one sentence with the number that shows the problem and the change that helps. A hint
// of the kind would_be_slow marks a submission that would use only a small part of a GPU. If a
// submission passes with this hint, reports show "pass, slow". Call compile_job() only on the job's
// thread. The other functions are pure.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sandbox/job/job.h"
#include "sandbox/record/candidate_run.h"
#include "sandbox/record/case_describer.h"
#include "sandbox/record/case_io.h"
#include "sandbox/record/recorder.h"

namespace assay::sandbox {

/// Sets the kernel's occupancy and the resource that limits the occupancy. Both are computed from
/// the resources that the kernel uses. Does nothing if the kernel's target is unknown.
void fill_occupancy(KernelReport& kernel);

/// Returns hints about the kernels that were recorded for the case `case_id`. `cost_bytes` is the
/// minimum traffic of this case, or 0 if the traffic is unknown.
std::vector<Hint> static_hints(const std::vector<KernelReport>& kernels, std::string_view target,
                               const std::string& case_id, double cost_bytes);

/// Returns a copy of the job for static figures. The copy has a new id and only one case: the
/// largest public case, or the largest case if no case is public. If the job has no cases, the copy
/// has no cases.
Job largest_case_only(const Job& job);

/// Adds the kernels (with their occupancy), the hints and the artifacts of a recording to the
/// verdict.
void add_static_figures(Verdict& verdict, CandidateResults results, const std::string& target,
                        double cost_bytes, bool keep_artifacts);

/// The parts of a device that a compile job uses. `default_target` is for jobs that name no target.
struct CompileTools {
  Recorder& recorder;
  CaseDescriber& describer;
  const std::string& default_target;
};

/// Runs a compile job: records the largest case, or every case if the job requests every case, for
/// each target of the job. A later test of the same source finds these recordings in the cache.
void compile_job(JobExecution& run, const CompileTools& tools);

}  // namespace assay::sandbox
