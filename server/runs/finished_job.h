// The last steps for a finished job: the check of its verdict, and its line in the log.
// Thread-safe.
//
//   sandbox::Verdict verdict = checked_verdict(job, device.execute(job, monitor));
//   log_finished_job(job, tools::JobState::finished, verdict);
#pragma once

#include <string>

#include "sandbox/job/job.h"
#include "tools/model/services.h"

namespace assay::server {

/// Checks the verdict of a device before it is stored. A pass needs one complete passing record for
/// each case of the job, on every device; a pass that lacks one becomes an internal_error that
/// names the case. The result has the job's id, kind and operator.
sandbox::Verdict checked_verdict(const sandbox::Job& job, sandbox::Verdict verdict);

/// Returns the verdict of a job that did not run. `summary` is the reason.
sandbox::Verdict verdict_without_execution(const sandbox::Job& job, sandbox::ErrorKind kind,
                                           std::string summary);

/// Writes one line to the log: handle, operator, device, stages and outcome of the job. The line
/// holds only numbers and names from Assay's own tables: no source, message, output or case,
/// because a submission can influence those.
void log_finished_job(const sandbox::Job& job, tools::JobState state,
                      const sandbox::Verdict& verdict);

}  // namespace assay::server
