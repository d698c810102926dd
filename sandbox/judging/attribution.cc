#include "sandbox/judging/attribution.h"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <utility>

#include "sandbox/record/case_io.h"

namespace assay::sandbox {
namespace {

/// Without its kernels the submission came to no end. A launch plan could not hold it, or it found
/// out: then no kernel is known to work.
bool ended_without_kernels(JobExecution& run, Verdict ended) {
  Verdict& verdict = run.verdict();
  if (is_inconclusive(ended.error_kind) || ended.error_kind == ErrorKind::not_recordable) {
    verdict.diagnostic = std::move(ended.diagnostic);
    return run.fail(ended.error_kind, Stage::run, ended.detail);
  }
  // Only the kind: what an exception says was written by the submission, which may have seen hidden
  // cases by then.
  const std::string how(to_string(ended.error_kind));
  for (CaseRecord& record : verdict.cases) {
    not_its_work(verdict, record,
                 "run once more with kernel launches that do nothing, the submission ended instead "
                 "of returning (" +
                     how + ")");
  }
  return true;
}

}  // namespace

bool all_right(const Verdict& verdict) {
  return std::all_of(verdict.cases.begin(), verdict.cases.end(),
                     [](const CaseRecord& record) { return record.outcome == Outcome::pass; });
}

void not_its_work(Verdict& verdict, CaseRecord& record, std::string reason) {
  record.outcome = Outcome::fail;
  record.reason = std::move(reason);
  verdict.outcome = Outcome::fail;
  verdict.error_kind = ErrorKind::unattributed;
}

bool attribute(JobExecution& run, CandidatePool& pool, Judge& judge, const PreparedJob& prepared,
               const CandidateJob& request, const std::vector<UniqueFd>& outputs,
               const CandidateResults& results) {
  Result<std::vector<UniqueFd>> files = make_output_files(prepared);
  if (!files) return run.fail_infrastructure(files.error(), "making output files");
  CandidateInputs inputs = interpret_inputs(prepared, *files);
  CandidateJob ablated = request;
  ablated.mode = CandidateMode::ablate;
  ablated.cases = std::move(inputs.cases);
  JobExecution beside = run.beside();
  const std::optional<CandidateResults> without =
      run_candidate(beside, pool, ablated, run.job().source, inputs.fds);
  if (!without) return ended_without_kernels(run, beside.finish());
  for (std::size_t i = 0; i < results.cases.size(); ++i) {
    const CaseDone& full = results.cases[i];
    Result<Attributed> whose = judge.attribute(
        run.job().id, full.id, full.outputs, outputs[i].get(), without->cases[i].outputs,
        (*files)[i].get(), run.deadline(run.job().limits.judge_wall_ms));
    if (!whose)
      return run.fail_infrastructure(whose.error(), "asking whose work case '" + full.id + "' is");
    if (!whose->ok) not_its_work(run.verdict(), run.verdict().cases[i], whose->reason);
  }
  return true;
}

}  // namespace assay::sandbox
