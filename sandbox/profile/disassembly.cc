#include "sandbox/profile/disassembly.h"

#include <utility>

#include "sandbox/record/candidate_run.h"

namespace assay::sandbox {

Result<std::vector<Artifact>> disassemble(JobExecution& run, CandidatePool& pool,
                                          const std::string& target, const std::string& plan) {
  CandidateJob request;
  request.mode = CandidateMode::disassemble;
  request.target = target;
  JobExecution beside = run.beside();
  std::optional<CandidateResults> results = run_candidate(beside, pool, request, plan, {});
  if (!results)
    return fail(ErrorCode::unavailable, "the disassembler gave nothing: " + beside.finish().detail);
  return std::move(results->artifacts);
}

}  // namespace assay::sandbox
