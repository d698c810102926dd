// Performs the last steps for a finished job: checks the job's verdict and writes a line about the
// job to the log. Thread-safe.
//
//   sandbox::Verdict verdict = checked_verdict(job, device.execute(job, monitor));
//   log_finished_job(job, tools::JobState::finished, verdict);
#pragma once

#include <string>

#include "sandbox/job/job.h"
#include "tools/model/services.h"

namespace assay::server {

/// Checks a device's verdict before it is stored. A passing verdict must contain exactly one
/// passing record for each case of the job, except for skipped cases. If it does not, the returned
/// verdict is an internal_error that names the case. The returned verdict has the job's id, kind
/// and operator.
sandbox::Verdict checked_verdict(const sandbox::Job& job, sandbox::Verdict verdict);

/// Returns the verdict of a job that did not run. `summary` is the reason.
sandbox::Verdict verdict_without_execution(const sandbox::Job& job, sandbox::ErrorKind kind,
                                           std::string summary);

/// Writes one line to the log with the job's handle, operator, device and outcome. Unless the job
/// is a grade, the line also contains its stages. The line contains only numbers and names from
/// Assay's own tables. It contains no source, message, output or case, because a submission can
/// influence these. The line of a grade contains no more than the client may learn
/// (tools/model/public_verdict.h).
void log_finished_job(const sandbox::Job& job, tools::JobState state,
                      const sandbox::Verdict& judged);

}  // namespace assay::server
