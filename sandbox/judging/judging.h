// Has the judge compare one case's outputs and adds its record to the verdict.
#pragma once

#include <vector>

#include "sandbox/job/job_execution.h"
#include "sandbox/pool/judge.h"

namespace assay::sandbox {

/// `outputs` describe tensors in `output_fd`; whoever wrote them is dead or done. Returns the
/// record in the verdict, or null when the judge could not answer: the verdict then says why.
/// `keep`: the judge is going to be asked whose work outputs on the device are.
CaseRecord* judge_case(JobExecution& run, Judge& judge, const CaseRequest& request,
                       const PreparedCase& prepared, const std::vector<Argument>& outputs,
                       int output_fd, bool keep = false);

}  // namespace assay::sandbox
