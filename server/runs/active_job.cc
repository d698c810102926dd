#include "server/runs/active_job.h"

#include <utility>

#include "server/runs/device_queue.h"

namespace assay::server {

using sandbox::Stage;
using tools::JobState;

template <class Change>
void ActiveJob::update(Change change) {
  {
    const MutexLock lock(mutex_);
    change(progress_);
  }
  changed_.notify_all();
}

ActiveJob::ActiveJob(sandbox::Job job, DeviceQueue& queue, const Clock& clock)
    : job_(std::move(job)), queue_(queue), clock_(clock), queued_ns_(clock.monotonic_ns()) {
  monitor_.stage_changed = [this](Stage stage) {
    update([&](Progress& now) {
      now.stage = stage;
      now.cases_done = 0;
    });
  };
  monitor_.engine_changed = [this](const sandbox::EngineNote& note) {
    update([&](Progress& now) { now.engine = note; });
  };
  monitor_.case_done = [this](std::int64_t done, std::int64_t total) {
    update([&](Progress& now) {
      now.cases_done = done;
      now.cases_total = total;
    });
  };
}

ActiveJob::Progress ActiveJob::progress() const {
  const MutexLock lock(mutex_);
  return progress_;
}

std::optional<ActiveJob::Progress> ActiveJob::wait_for_change(const Progress& seen,
                                                              std::int64_t until_ns,
                                                              std::stop_token stop) const {
  MutexLock lock(mutex_);
  const bool changed =
      clock_.wait_until(changed_, lock, std::move(stop), until_ns,
                        [&]() ASSAY_REQUIRES(mutex_) { return progress_ != seen; });
  return changed ? std::optional(progress_) : std::nullopt;
}

void ActiveJob::begin() {
  update([](Progress& now) { now.state = JobState::running; });
}

void ActiveJob::end(JobState state, sandbox::Verdict verdict) {
  const auto shared = std::make_shared<const sandbox::Verdict>(std::move(verdict));
  const std::int64_t finished_ns = clock_.monotonic_ns();
  update([&](Progress& now) {
    now.state = state;
    now.stage = shared->stage;
    now.finished_ns = finished_ns;
    now.verdict = shared;
  });
}

void ActiveJob::abandon() {
  update([](Progress& now) { now.abandoned = true; });
}

sandbox::EngineNote ActiveJob::engine_note(const Progress& now) const {
  sandbox::EngineNote note = now.engine;
  if (now.over()) return {};
  if (now.stage != sandbox::Stage::queue) return note;
  sandbox::EngineNote live = queue_.device().engine();
  if (live.state == sandbox::EngineState::none) return note;
  if (note.state == sandbox::EngineState::none) return live;
  note.said += "; " + live.said;
  return note;
}

}  // namespace assay::server
