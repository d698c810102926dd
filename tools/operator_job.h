// A job for an operator without the protocol around it: what `assay eval` and `operators lint` run. The tools build theirs in grading.h with
// the same rules. Pure function.
//
//   Job job = operator_job(op, JobKind::grade, source);       // public and hidden cases, the oracle as baseline
#pragma once

#include <string>

#include "operators/catalog.h"
#include "sandbox/job.h"

namespace assay::tools {

/// compile and test: the public cases; profile: the last public case; grade: all cases. profile and grade carry the oracle as baseline.
sandbox::Job operator_job(const operators::Operator& op, sandbox::JobKind kind, std::string source);

}  // namespace assay::tools
