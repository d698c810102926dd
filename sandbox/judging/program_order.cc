#include "sandbox/judging/program_order.h"

#include <algorithm>
#include <cstdint>
#include <string>

#include "sandbox/judging/interpreted_cases.h"

namespace assay::sandbox {
namespace {

// The time limit of a run in reverse order. In this order, a program that waits for another program
// may wait forever.
constexpr std::int64_t kOrderWallMs = 5'000;

constexpr const char* kRace =
    "the result depends on the order in which the programs of a grid run (a race): right in one "
    "order, and in the reverse order, where no program sees the stores of another: ";

double elements(const CaseRequest& one) {
  double product = 1;
  for (const auto& [name, extent] : one.axes)
    product *= static_cast<double>(std::max<std::int64_t>(extent, 1));
  return product;
}

}  // namespace

std::size_t order_case(const Job& job, const std::vector<std::size_t>& cases) {
  const auto fewer = [&](std::size_t a, std::size_t b) {
    return elements(job.cases[a]) < elements(job.cases[b]);
  };
  std::size_t chosen = *std::min_element(cases.begin(), cases.end(), fewer);
  for (const std::size_t i : cases) {
    if (elements(job.cases[i]) <= kMostOrderElements && fewer(chosen, i)) chosen = i;
  }
  return chosen;
}

bool check_order(JobExecution& run, CandidatePool& pool, Judge& judge,
                 const InterpretedJob& interpreted, std::size_t at) {
  Job brief = interpreted.job;
  brief.limits.run_wall_ms = std::min(brief.limits.run_wall_ms, kOrderWallMs);
  CandidateJob request = interpreted.request;
  request.mode = CandidateMode::reorder;
  JobExecution auxiliary = run.auxiliary(brief);
  InterpretedCases reversed(auxiliary, pool, request, brief.source);
  reversed.set_inputs(interpreted.prepared);
  Verdict& verdict = run.verdict();
  const std::string& id = brief.cases[at].id;
  if (!reversed.perform({at}, true)) {
    const ErrorKind ended = auxiliary.verdict().error_kind;
    if (ended == ErrorKind::cancelled) return run.fail(ended, auxiliary.verdict().detail);
    verdict.tier_reason += "; no other order of programs was checked (" +
                           std::string(to_string(ended)) + " in case '" + id + "')";
    return true;
  }
  const Result<Compared> compared =
      judge.compare({brief.id, id}, {.tensors = reversed.outputs(at), .fd = reversed.file(at)},
                    run.deadline(brief.limits.judge_wall_ms));
  if (!compared)
    return run.fail_by_judge(compared.error(), "judging case '" + id + "' in reverse order");
  if (compared->kind == ErrorKind::none) return true;
  CaseRecord& record = verdict.cases[at];
  record.outcome = Outcome::fail;
  record.reason = kRace + compared->record.reason;
  verdict.outcome = Outcome::fail;
  verdict.error_kind = ErrorKind::wrong_result;
  verdict.hints.push_back(
      {HintKind::not_deterministic, id,
       "programs of a grid run at the same time: let each element be stored by one program only, "
       "or use tl.atomic_add and the like, or a second launch for what needs all results"});
  return true;
}

}  // namespace assay::sandbox
