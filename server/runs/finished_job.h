// The last check of a verdict before it is stored: a pass is positive evidence, one complete
// passing record per case of the job, whatever device it came from. Pure, thread-safe.
//
// The line that the log gets for a finished job: its handle, operator, device, stages and outcome.
//
//   log_finished_job(job, tools::JobState::finished, verdict);
//
// The line has no text that a submission wrote or caused: no source, message, output or case. Only
// names from Assay's own tables and numbers appear. Thread-safe.
#pragma once

#include <string>

#include "sandbox/job/job.h"
#include "tools/model/services.h"

namespace assay::server {

/// Returns the verdict, stamped with the job's id, kind and operator; a pass that lacks a record
/// becomes an internal_error that names the case.
sandbox::Verdict checked_verdict(const sandbox::Job& job, sandbox::Verdict verdict);

/// Returns the verdict of a job that did not run, with the reason.
sandbox::Verdict verdict_without_execution(const sandbox::Job& job, sandbox::ErrorKind kind,
                                           std::string summary);

void log_finished_job(const sandbox::Job& job, tools::JobState state,
                      const sandbox::Verdict& verdict);

}  // namespace assay::server
