// Records the cases of one submission in several candidates at once. Several candidates save time,
// because most of a recording is compilation, and each specialisation of a kernel is compiled
// separately. If the job contains launch plans, nothing has to be recorded, and stored_plans()
// returns these plans.
//
//   std::optional<CandidateResults> results = record_cases(
//       run, pool, {prepared, all_cases(prepared), target, source, {.candidates = 2}});
//   if (!results) return;  // the verdict of `run` has the error
//
// Each candidate imports the source and records its part of the cases within the job's limits; if
// there are fewer candidates than `candidates`, each has more time (recording_wall_ms()). No
// candidate sees another candidate's cases. No candidate gets a hidden case before all candidates
// have finished the public cases. If several candidates fail, the verdict has the error of the
// first part. Call these functions only on the job's thread.
#pragma once

#include <cstddef>
#include <cstdint>
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
  bool artifacts = false;  // whether the assembly of every kernel is kept
  // If true, every autotuner configuration is recorded, otherwise only the first one. Plans that
  // will be timed need all configurations. Recording all of them takes longer, because each
  // configuration is compiled.
  bool alternatives = false;
  // The maximum number of simultaneous candidates. While many submissions are compiled, there are
  // fewer (CandidatePool::recorders_for), unless `alternatives` is true.
  int candidates = 1;
  std::string language = std::string(kPython);
  /// This function gets the results of all public cases, before any candidate gets a hidden case.
  /// If the function returns false, the recording ends there. A recording without hidden cases does
  /// not call it.
  std::function<bool(const std::vector<CaseDone>& open)> before_hidden = {};
};

/// Divides `cases` (indices into `prepared`) into at most `parts` parts of nearly equal size. Each
/// part is in ascending order, and the first part contains the first case. Cases for which Triton
/// compiles the same kernels go to the same part if possible, so that fewer kernels are compiled
/// twice. Two cases have the same kernels if their dtypes are equal and each integer belongs to the
/// same class in both cases: equal to 1, divisible by 16, or neither.
std::vector<std::vector<std::size_t>> deal_cases(const std::vector<PreparedCase>& prepared,
                                                 const std::vector<std::size_t>& cases,
                                                 std::size_t parts);

/// Returns the time limit of each candidate of a recording in `parts` parts, if `limit_ms` is the
/// limit of a recording in `most` parts: once more for each candidate that was left out. So each
/// part has as much time as all the smaller parts together whose cases it has, and a verdict
/// becomes no timeout because candidates were left out.
std::int64_t recording_wall_ms(std::int64_t limit_ms, std::size_t most, std::size_t parts);

/// The owner of the source that is recorded.
enum class RecordedSource { submission, oracle };

/// The cases, the target and the source of a recording. This struct borrows `prepared`, `target`
/// and `source`.
struct RecordRequest {
  const PreparedJob& prepared;
  std::vector<std::size_t> cases;  // indices into `prepared.cases`
  const std::string& target;
  const std::string& source;
  RecordOptions options = {};
  RecordedSource whose = RecordedSource::submission;
};

/// Returns a launch plan and the kernels' resources for each case of the request, in the request's
/// order. Returns nothing if the verdict has become an error, or if `before_hidden` has ended the
/// recording.
std::optional<CandidateResults> record_cases(JobExecution& run, CandidatePool& pool,
                                             const RecordRequest& request);

/// A function that records one element of `dealt`, which is one part of the cases. It returns
/// nothing if the verdict of `run` has become an error. Several threads call it.
using PartRecorder = std::function<std::optional<CandidateResults>(
    JobExecution& run, const std::vector<std::size_t>& part)>;
/// Records all parts at once and merges their results. The first part is recorded on the job's own
/// thread. If a part throws an exception, the verdict becomes internal_error. The function returns
/// only after all parts have ended.
std::optional<CandidateResults> record_parts(JobExecution& run,
                                             const std::vector<std::vector<std::size_t>>& dealt,
                                             const std::vector<std::size_t>& cases,
                                             const PartRecorder& record_part);

/// Returns the indices of all prepared cases.
std::vector<std::size_t> all_cases(const PreparedJob& prepared);

/// Returns the job's own launch plan for each prepared case, in the same order, without the
/// kernels' resources. These plans are as untrusted as the plans of a candidate. Returns nothing if
/// a case has no plan.
std::optional<CandidateResults> stored_plans(JobExecution& run, const PreparedJob& prepared);

}  // namespace assay::sandbox
