#include "sandbox/judging/judging.h"

#include <utility>

#include "sandbox/job/verdict_builder.h"

namespace assay::sandbox {

CaseRecord* judge_case(JobExecution& run, Judge& judge, const CaseRequest& request,
                       const PreparedCase& prepared, const std::vector<Argument>& outputs,
                       int output_fd, bool keep) {
  Result<Compared> compared = judge.compare(run.job().id, request.id, outputs, output_fd,
                                            run.deadline(run.job().limits.judge_wall_ms), keep);
  if (!compared) {
    run.fail_infrastructure(compared.error(), "judging case '" + request.id + "'");
    return nullptr;
  }
  CaseRecord record = std::move(compared->record);
  record.id = request.id;
  record.hidden = request.hidden;
  record.cost_bytes = prepared.cost_bytes;
  record.cost_flops = prepared.cost_flops;
  add_record(run.verdict(), std::move(record), compared->kind);
  run.case_done(run.verdict().cases.size());
  return &run.verdict().cases.back();
}

}  // namespace assay::sandbox
