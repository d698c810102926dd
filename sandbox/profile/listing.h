// Creates the texts of a profile that people read: the machine code of a plan's kernels, the source
// with the instructions of each line, and the plan's operations with their times.
//
//   Result<std::vector<Artifact>> listings = disassemble(run, pool, "cuda:90", plan);
//   std::string text = annotated_source(source, digest);
//   // "   12 |   96   32 | LDG.128 x4, FADD x24     |     x = tl.load(...)"
//
// The binaries are untrusted, and so is the output of a disassembler that reads them. So the
// disassembler runs inside the jail, in a new candidate that never sees the submission.
// Call disassemble() only on the job's thread. The other functions are pure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "sandbox/job/job.h"
#include "sandbox/job/job_execution.h"
#include "sandbox/pool/candidate_pool.h"

namespace assay::sandbox {

/// Returns one listing for each binary of the plan, in the plan's order. There are at most 16
/// listings (sandbox/harness/recording/disassemble.py). A listing is an artifact of kind "sass"
/// with the kernel's name. The job's verdict is not changed. Errors: unavailable if the binaries
/// cannot be disassembled, and the message says why.
Result<std::vector<Artifact>> disassemble(JobExecution& run, CandidatePool& pool,
                                          const std::string& target, const std::string& plan);

/// Returns every line of the source with its instructions, followed by the lines of inlined
/// libraries.
std::string annotated_source(std::string_view source, const CodeDigest& digest);

/// Returns a table of a plan's operations. The slowest operation comes first.
std::string timeline_text(const std::vector<OperationTime>& timeline);

}  // namespace assay::sandbox
