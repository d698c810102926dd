// Looks for races between the programs of a grid, without a GPU. A candidate runs one case again:
// the programs of each grid run in the reverse order, and no program sees what another program
// stored (harness/interpreting/program_order.py). A submission without a race gives right outputs
// in this order as well.
//
//   if (!check_order(run, pool, judge, {job, prepared, request}, i)) return false;
//
// Atomic operations keep their effect, so a sum by atomics is right in any order, within the
// tolerance. Call these functions only on the job's thread.
#pragma once

#include <cstddef>
#include <vector>

#include "sandbox/job/job_execution.h"
#include "sandbox/pool/judge.h"
#include "sandbox/record/candidate_run.h"

namespace assay::sandbox {

/// A job that the judge has prepared, and the request with which a candidate interprets the job.
/// The caller owns the members.
struct InterpretedJob {
  const Job& job;
  const PreparedJob& prepared;
  const CandidateJob& request;  // of mode `interpret`
};

/// A case with more elements may take too long in the interpreter to run again.
inline constexpr double kMostOrderElements = 1 << 20;

/// Returns the index of the case that check_order() runs: of these cases of the job, the one with
/// the most elements, up to kMostOrderElements. A smaller case often has a grid with only one
/// program, which cannot show a race. If all cases have more elements, returns the smallest.
/// `cases` must not be empty. The elements of a case are the product of its axes.
std::size_t order_case(const Job& job, const std::vector<std::size_t>& cases);

/// Runs case `at` again, in reverse order. Record `at` of the verdict must belong to this case and
/// must be a pass. If the outputs are wrong now, the record becomes a failure with the reason, and
/// the verdict gets a hint of the kind not_deterministic. If the run returns no outputs, the case
/// still passes, and `tier_reason` says that the order was not checked. The reason is that in
/// reverse order a correct program may wait for another program forever. Returns false if the
/// verdict has become an error.
bool check_order(JobExecution& run, CandidatePool& pool, Judge& judge,
                 const InterpretedJob& interpreted, std::size_t at);

}  // namespace assay::sandbox
