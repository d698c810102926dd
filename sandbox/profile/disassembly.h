// The machine code of a launch plan's kernels as text, made by a fresh candidate that never sees
// the submission: binaries are untrusted, and so is what a disassembler does with them, so both
// stay in the jail.
//
//   Result<std::vector<Artifact>> listings = disassemble(run, pool, "cuda:90", plan);     // kind
//   "sass", name: the kernel's
//
// Belongs to the job's thread. What goes wrong is an error of this and not of the job.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "sandbox/job/job_execution.h"
#include "sandbox/pool/candidate_pool.h"

namespace assay::sandbox {

/// One listing for each of the plan's binaries, in order, up to 16
/// (sandbox/harness/recording/disassemble.py). Errors: unavailable, with the reason.
Result<std::vector<Artifact>> disassemble(JobExecution& run, CandidatePool& pool,
                                          const std::string& target, const std::string& plan);

}  // namespace assay::sandbox
