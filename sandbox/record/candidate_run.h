// Runs one candidate: sends it a job, follows its messages, and turns every way in which it can end
// into the verdict.
//
//   std::optional<CandidateResults> results = run_candidate(run, pool, request, source, fds);
//   if (!results) return;  // run's verdict says why
//
// Results are complete (one per case, in order) or nothing: an early exit, half a message, a second
// result or a message after `done` is an error. The candidate is dead when this returns, so its
// output files are final. Belongs to the job's thread.
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

/// Runs the request in a candidate of the pool. The cases index `fds`. `announced_cases` is the
/// total that the monitor gets when this run handles only a part of the job's cases. `sent` is
/// called when the candidate has the job and the descriptors.
std::optional<CandidateResults> run_candidate(
    JobExecution& run, CandidatePool& pool, const CandidateJob& request, const std::string& source,
    const std::vector<int>& fds, std::optional<std::size_t> announced_cases = std::nullopt,
    const std::function<void()>& sent = {});

/// Returns the limit that an exception of Python or torch reports (no memory, no room on disk, no
/// more processes), else `kind`.
ErrorKind limit_behind(ErrorKind kind, const Diagnostic& diagnostic);

}  // namespace assay::sandbox
