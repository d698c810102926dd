#include "server/runs/drain.h"

#include <cstdint>

#include "base/log.h"
#include "base/mutex.h"

namespace assay::server {
namespace {

/// Waits until a stop is requested.
void wait_for(const std::stop_token& stop) {
  Mutex mutex;
  Condition never;
  MutexLock lock(mutex);
  never.wait(lock, stop, [] { return false; });
}

void drain(StoredJobs& jobs, std::chrono::milliseconds limit, const std::stop_token& at_once,
           const Clock& clock) {
  if (limit.count() <= 0 || at_once.stop_requested()) return;
  std::int64_t queued = 0;
  std::int64_t running = 0;
  for (const StoredJobs::Load& load : jobs.load()) {
    queued += load.queued;
    running += load.running;
  }
  log::info("the server stops when its jobs have ended",
            {{"running", running}, {"queued", queued}, {"limit_ms", limit.count()}});
  const std::int64_t start_ns = clock.monotonic_ns();
  const bool idle = jobs.wait_until_idle(limit.count(), at_once);
  log::info(idle ? "all jobs have ended" : "the next server runs the jobs that have not ended",
            {{"waited_ms", (clock.monotonic_ns() - start_ns) / kNsPerMs}});
}

}  // namespace

Drain::Drain(StoredJobs& jobs, std::chrono::milliseconds limit, const Requests& requests,
             const Clock& clock)
    : on_begin_(requests.begin, [this, &jobs] { begin(jobs); }),
      on_at_once_(requests.at_once,
                  [this, &jobs] {
                    ended_.request_stop();
                    begin(jobs);
                  }),
      thread_([this, &jobs, limit, &clock] {
        wait_for(begun_.get_token());
        drain(jobs, limit, ended_.get_token(), clock);
        over_.request_stop();
      }) {}

void Drain::begin(StoredJobs& jobs) {
  jobs.refuse_jobs();
  begun_.request_stop();
}

Drain::~Drain() {
  ended_.request_stop();
  begun_.request_stop();
  thread_.join();
}

}  // namespace assay::server
