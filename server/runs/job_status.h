// The status of a job, from memory or from the store.
//
//   if (const Status good = check_job_handle(job); !good) refuse(good.error());
//   show(status_of(watched, watched.progress(), clock, /*with_engine=*/true));
//   if (const auto status = stored_status(store, writer, principal, job)) show(*status);
//
// Thread-safe.
#pragma once

#include <string>

#include "base/clock.h"
#include "base/result.h"
#include "server/runs/active_job.h"
#include "server/runs/verdict_writer.h"
#include "server/store/store.h"
#include "tools/model/services.h"

namespace assay::server {

/// Error: invalid_argument if the text is no handle of a job.
Status check_job_handle(const std::string& job);

/// `with_engine`: the status says what the engine of a waiting job does.
tools::JobStatus status_of(const ActiveJob& active, ActiveJob::Progress now, const Clock& clock,
                           bool with_engine);

/// Returns the status of a job that is not in memory, from the store. Errors: not_found if the
/// principal has no such job; unavailable if the job has no verdict.
Result<tools::JobStatus> stored_status(Store& store, const VerdictWriter& writer,
                                       const tools::Principal& principal, const std::string& job);

}  // namespace assay::server
