// The profile's artifacts that a person reads: the submission's source with what became of each
// line, and the plan's operations with their times.
//
//   annotated_source(source, digest);
//     "   12 |   96   32 | LDG.128 x4, FADD x24     |     x = tl.load(...)"
//
// Pure functions.
//
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
#include <string_view>
#include <vector>

#include "base/result.h"
#include "sandbox/job/job.h"
#include "sandbox/job/job_execution.h"
#include "sandbox/pool/candidate_pool.h"

namespace assay::sandbox {

/// Every line of the source; then lines of libraries that were inlined.
std::string annotated_source(std::string_view source, const CodeDigest& digest);

/// A table of a plan's operations, slowest first.
std::string timeline_text(const std::vector<OperationTime>& timeline);

/// One listing for each of the plan's binaries, in order, up to 16
/// (sandbox/harness/recording/disassemble.py). Errors: unavailable, with the reason.
Result<std::vector<Artifact>> disassemble(JobExecution& run, CandidatePool& pool,
                                          const std::string& target, const std::string& plan);

}  // namespace assay::sandbox
