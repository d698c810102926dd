// Runs one candidate: sends it a job, follows its messages, and turns every way in which it can end
// into the verdict.
//
//   std::optional<CandidateResults> results =
//       run_candidate(run, pool, {.request = request, .source = source, .fds = fds});
//   if (!results) return;  // the verdict of `run` has the error
//
// Results are complete, with one result per case in order, or there are none: an early exit, half a
// message, a second result or a message after `done` is an error. The candidate has ended when
// run_candidate() returns, so its output files are final. Belongs to the job's thread.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sandbox/job/job_execution.h"
#include "sandbox/pool/candidate_pool.h"

namespace assay::sandbox {

struct CandidateResults {
  std::vector<CaseDone> cases;      // in the job's order
  std::vector<Artifact> artifacts;  // untrusted
};

/// The work of one candidate. Borrows request and source.
struct CandidateTask {
  const CandidateJob& request;
  const std::string& source;
  std::vector<int> fds = {};  // borrowed; the request's cases index them
  /// The total that the monitor gets when this candidate handles only a part of the job's cases.
  std::optional<std::size_t> announced_cases = std::nullopt;
  /// Called when the candidate has the job and the descriptors.
  std::function<void()> sent = {};
};

/// Runs the task in a candidate of the pool. Returns nothing when the verdict has become an error.
std::optional<CandidateResults> run_candidate(JobExecution& run, CandidatePool& pool,
                                              const CandidateTask& task);

/// Returns the limit that an exception of Python or torch reports (no memory, no room on disk, no
/// more processes), else `kind`.
ErrorKind limit_behind(ErrorKind kind, const Diagnostic& diagnostic);

/// Returns `line` if `source` has a line with this number, counted from 1, else nothing. A
/// candidate can send any number.
std::optional<std::int64_t> line_of_source(std::optional<std::int64_t> line,
                                           std::string_view source);

}  // namespace assay::sandbox
