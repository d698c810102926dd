#include "server/runs/job_status.h"

#include <cstdint>
#include <memory>
#include <utility>

#include "base/handle.h"
#include "server/runs/device_queue.h"

namespace assay::server {

using sandbox::Verdict;
using tools::JobState;
using tools::JobStatus;

JobStatus status_of(const ActiveJob& active, ActiveJob::Progress now, const Clock& clock,
                    bool with_engine) {
  JobStatus status;
  if (now.state == JobState::queued) {
    const DeviceQueue::Place place = active.queue().place_of(active.job().id);
    status.queue_position = place.position;
    status.expected_wait_ms = place.expected_wait_ms;
    // Position 0 means that the job has left the queue since `now` was read. So `now` is outdated
    // and is read again.
    if (place.position == 0) now = active.progress();
  }
  status.job = active.job().id;
  status.run = active.job().run;
  status.state = now.state;
  status.stage = sandbox::to_string(now.stage);
  status.cases_done = now.cases_done;
  status.cases_total = now.cases_total;
  status.verdict = now.verdict;
  if (with_engine) status.engine = active.engine_note(now);
  const std::int64_t until_ns = now.verdict ? now.finished_ns : clock.monotonic_ns();
  status.elapsed_ms = (until_ns - active.queued_ns()) / kNsPerMs;
  return status;
}

Status check_job_handle(const std::string& job) {
  if (is_handle(job, "job")) return {};
  return fail(ErrorCode::invalid_argument,
              "not a job handle; handles look like job_... and are in the answers of `compile`, "
              "`run_tests`, `profile` and `submit`");
}

Result<JobStatus> stored_status(Store& store, const VerdictWriter& writer,
                                const tools::Principal& principal, const std::string& job) {
  ASSAY_TRY(stored, store.finished_job(job, principal.name));
  if (!stored) {
    if (auto left = writer.unstored(job))
      stored = FinishedJob{.run = left->run,
                           .state = end_state(left->verdict),
                           .verdict = std::move(left->verdict),
                           .elapsed_ms = 0};
  }
  if (!stored)
    return fail(ErrorCode::unavailable, "job " + job +
                                            " was accepted by a server that stopped; the next "
                                            "server that opens this store runs it");
  JobStatus status;
  status.job = job;
  status.run = stored->run;
  status.state = stored->state;
  status.stage = sandbox::to_string(stored->verdict.stage);
  status.elapsed_ms = stored->elapsed_ms;
  status.verdict = std::make_shared<const Verdict>(std::move(stored->verdict));
  return status;
}

}  // namespace assay::server
