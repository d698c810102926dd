// The line that the log gets for a finished job: its handle, operator, device, stages and outcome.
//
//   log_finished_job(job, tools::JobState::finished, verdict);
//
// The line has no text that a submission wrote or caused: no source, message, output or case. Only
// names from Assay's own tables and numbers appear. Thread-safe.
#pragma once

#include "sandbox/job/job.h"
#include "tools/model/services.h"

namespace assay::server {

void log_finished_job(const sandbox::Job& job, tools::JobState state,
                      const sandbox::Verdict& verdict);

}  // namespace assay::server
