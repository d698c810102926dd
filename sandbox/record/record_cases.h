// Recording the cases of one submission in several candidates at once: nearly all of a recording is
// compilation, and each specialisation is one of its own.
//
//   std::optional<CandidateResults> results = record_cases(run, pool, prepared,
//   all_cases(prepared), target, source, {.candidates = 2}); if (!results) return; // run's verdict
//   says why
//
// Each candidate imports the source and records its part of the cases, within the job's limits;
// none sees another's. Where several fail, the one with the first part of the cases is told of.
// Belongs to the job's thread.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "sandbox/record/candidate_run.h"
#include "sandbox/record/case_io.h"

namespace assay::sandbox {

struct RecordOptions {
  bool artifacts = false;     // assembly of every kernel
  bool alternatives = false;  // every configuration of an autotuner, which takes its time to
                              // compile, not only the first: for plans that will be timed
  int candidates = 1;         // at most so many at a time
  std::string language = std::string(kPython);
};

/// Deals `cases` (indices into `prepared`) out as at most `parts` parts of nearly equal size, in
/// ascending order. Cases for which Triton specialises integers alike (1, divisible by 16, or
/// neither; dtypes) are put together as far as that goes, so that fewer kernels are compiled twice.
/// The part with the first case is first.
std::vector<std::vector<std::size_t>> deal_cases(const std::vector<PreparedCase>& prepared,
                                                 const std::vector<std::size_t>& cases,
                                                 std::size_t parts);

/// Records `source` for one target: a launch plan and kernel figures for each of `cases` (indices
/// into `prepared.cases`), in their order. Nothing: the verdict says why.
std::optional<CandidateResults> record_cases(JobExecution& run, CandidatePool& pool,
                                             const PreparedJob& prepared,
                                             const std::vector<std::size_t>& cases,
                                             const std::string& target, const std::string& source,
                                             const RecordOptions& options);

/// Records one part of the cases, as run_candidate() does; nothing: its run's verdict says why.
/// Called from several threads.
using PartRecorder = std::function<std::optional<CandidateResults>(
    JobExecution& run, const std::vector<std::size_t>& part)>;
/// The parts at once, the first on the job's own thread, and what came of them together. What one
/// of them throws fails that part with internal_error, once all have ended.
std::optional<CandidateResults> record_parts(JobExecution& run,
                                             const std::vector<std::vector<std::size_t>>& dealt,
                                             const std::vector<std::size_t>& cases,
                                             const PartRecorder& record_part);

/// The indices of all of its cases.
std::vector<std::size_t> all_cases(const PreparedJob& prepared);

}  // namespace assay::sandbox
