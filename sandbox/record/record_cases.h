// Records the cases of one submission in several candidates at once, or takes the launch plans that
// the job brings along. A recording is mostly compilation, and each specialisation of a kernel is
// compiled separately.
//
//   std::optional<CandidateResults> results = record_cases(
//       run, pool, {prepared, all_cases(prepared), target, source, {.candidates = 2}});
//   if (!results) return;  // the verdict of `run` has the error
//
// Each candidate imports the source and records its part of the cases within the job's limits. No
// candidate sees the part of another. No candidate gets a hidden case before all candidates are
// through with the public ones. When several fail, the verdict has the error of the first part.
// Belongs to the job's thread.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "sandbox/job/job_execution.h"
#include "sandbox/pool/judge.h"
#include "sandbox/record/candidate_run.h"
#include "sandbox/record/case_io.h"

namespace assay::sandbox {

struct RecordOptions {
  bool artifacts = false;  // keep the assembly of every kernel
  // Record every configuration of an autotuner and not only the first. Plans that are timed need
  // it. It takes longer to compile.
  bool alternatives = false;
  int candidates = 1;  // the most candidates at a time
  std::string language = std::string(kPython);
  /// Called with the results of all public cases before any candidate gets a hidden one. Returns
  /// false to end the recording there. Not called for a recording without hidden cases.
  std::function<bool(const std::vector<CaseDone>& open)> before_hidden = {};
};

/// Divides `cases` (indices into `prepared`) into at most `parts` parts of nearly equal size, each
/// in ascending order. The first part has the first case. Cases for which Triton specialises a
/// kernel alike (equal dtypes; integers that are 1, divisible by 16, or neither) go to the same
/// part if possible, so that fewer kernels are compiled twice.
std::vector<std::vector<std::size_t>> deal_cases(const std::vector<PreparedCase>& prepared,
                                                 const std::vector<std::size_t>& cases,
                                                 std::size_t parts);

/// The cases, the target and the source of a recording. Borrows `prepared`, `target` and `source`.
struct RecordRequest {
  const PreparedJob& prepared;
  std::vector<std::size_t> cases;  // indices into `prepared.cases`
  const std::string& target;
  const std::string& source;
  RecordOptions options = {};
};

/// Returns a launch plan and kernel figures for each case of the request, in their order. Returns
/// nothing when the verdict has become an error, or when `before_hidden` ended the recording.
std::optional<CandidateResults> record_cases(JobExecution& run, CandidatePool& pool,
                                             const RecordRequest& request);

/// Records one part of the cases: one of the elements of `dealt`. Returns nothing when the verdict
/// of `run` has become an error. Called from several threads.
using PartRecorder = std::function<std::optional<CandidateResults>(
    JobExecution& run, const std::vector<std::size_t>& part)>;
/// Records all parts at once, the first on the job's own thread, and merges their results. An
/// exception of one part ends that part with internal_error after all parts have ended.
std::optional<CandidateResults> record_parts(JobExecution& run,
                                             const std::vector<std::vector<std::size_t>>& dealt,
                                             const std::vector<std::size_t>& cases,
                                             const PartRecorder& record_part);

/// Returns the indices of all cases.
std::vector<std::size_t> all_cases(const PreparedJob& prepared);

/// Returns one plan for each prepared case, in their order, without kernel figures. The plans are
/// as untrusted as a candidate's. Returns nothing when a case has no plan.
std::optional<CandidateResults> stored_plans(JobExecution& run, const PreparedJob& prepared);

}  // namespace assay::sandbox
