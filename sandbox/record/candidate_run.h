// One candidate's whole conversation about a job: send it, follow its messages, and turn every way
// in which it can end into the verdict.
//
//   std::optional<CandidateResults> results = run_candidate(run, pool, request, source, fds);
//   if (!results) return;                      // run's verdict says why
//
// Results are complete (one per case, in order) or nothing: an early exit, half a message, a second
// result or a word after `done` is an error. When this returns the candidate is dead, so the output
// files it could write to are final.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "sandbox/job/job_execution.h"
#include "sandbox/pool/candidate_pool.h"

namespace assay::sandbox {

struct CandidateResults {
  std::vector<CaseDone> cases;      // in the job's order
  std::vector<Artifact> artifacts;  // untrusted
};

/// `fds` are those that the cases' descriptors index. `announced_cases`: of how many cases the
/// monitor hears, where this is a part of the job. `sent` is called once the candidate has the job,
/// and the descriptors.
std::optional<CandidateResults> run_candidate(
    JobExecution& run, CandidatePool& pool, const CandidateJob& request, const std::string& source,
    const std::vector<int>& fds, std::optional<std::size_t> announced_cases = std::nullopt,
    const std::function<void()>& sent = {});

/// The error kind for an exception that stands for a limit (no memory, no room on disk, no more
/// processes), else `kind`.
ErrorKind limit_behind(ErrorKind kind, const Diagnostic& diagnostic);

}  // namespace assay::sandbox
