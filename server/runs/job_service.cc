#include "server/runs/job_service.h"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <stop_token>

#include "base/handle.h"
#include "server/runs/verdict_check.h"
#include "server/runs/wait_estimate.h"

namespace assay::server {

using sandbox::ErrorKind;
using sandbox::Stage;
using sandbox::Verdict;
using tools::JobState;
using tools::JobStatus;

namespace {

std::string about(const std::optional<std::int64_t>& wait_ms) {
  return wait_ms ? "about " + std::to_string((*wait_ms + 999) / 1'000) + " s"
                 : std::string("some seconds");
}

}  // namespace

struct StoredJobs::Live {
  sandbox::Job job;
  Lane* lane = nullptr;
  std::stop_source stop;  // ends the job, whether it waits or runs
  sandbox::JobMonitor monitor{.stop = stop.get_token()};
  std::int64_t queued_ns = 0;
  // guarded by mutex_:
  JobState state = JobState::queued;
  Stage stage = Stage::queue;
  std::int64_t cases_done = 0, cases_total = 0;
  std::int64_t finished_ns = 0;
  std::optional<Verdict> verdict;
};

struct StoredJobs::Lane {
  std::string name;
  std::unique_ptr<sandbox::Device> device;
  FairQueue queue;        // guarded by mutex_
  WaitEstimate estimate;  // guarded by mutex_

  explicit Lane(int workers) : estimate(workers) {}
};

StoredJobs::StoredJobs(Store& store, StoredRuns& runs, const Clock& clock, Devices devices,
                       const QueueLimits& limits)
    : store_(store), runs_(runs), clock_(clock), limits_(limits) {
  for (auto& named : devices) {
    auto lane = std::make_unique<Lane>(std::max(named.second->info().concurrency, 1));
    lane->name = std::move(named.first);
    lane->device = std::move(named.second);
    lanes_.push_back(std::move(lane));
  }
  for (const auto& lane : lanes_) {
    const int concurrency = std::max(lane->device->info().concurrency, 1);
    for (int i = 0; i < concurrency; ++i)
      workers_.emplace_back([this, &lane = *lane] { work(lane); });
  }
}

StoredJobs::~StoredJobs() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
    for (const auto& [id, live] : live_) live->stop.request_stop();
  }
  changed_.notify_all();
  for (std::thread& worker : workers_) worker.join();
}

std::vector<std::string> StoredJobs::devices() const {
  std::vector<std::string> names;
  names.reserve(lanes_.size());
  for (const auto& lane : lanes_) names.push_back(lane->name);
  return names;
}

std::vector<StoredJobs::Load> StoredJobs::load() const {
  std::vector<Load> loads;
  loads.reserve(lanes_.size());
  const std::lock_guard lock(mutex_);
  for (const auto& lane : lanes_) {
    const auto running = std::count_if(live_.begin(), live_.end(), [&](const auto& entry) {
      return entry.second->lane == lane.get() && entry.second->state == JobState::running;
    });
    loads.push_back({lane->name, static_cast<std::int64_t>(lane->queue.size()), running});
  }
  return loads;
}

StoredJobs::Lane* StoredJobs::lane_of(const std::string& device) {
  if (lanes_.empty()) return nullptr;
  if (device.empty()) return lanes_.front().get();
  const auto found = std::find_if(lanes_.begin(), lanes_.end(),
                                  [&](const auto& lane) { return lane->name == device; });
  return found == lanes_.end() ? nullptr : found->get();
}

void StoredJobs::enqueue(Lane& lane, const std::shared_ptr<Live>& live) {
  live->lane = &lane;
  live->queued_ns = clock_.monotonic_ns();
  live_[live->job.id] = live;
  lane.queue.push(live->job.run, live->job.id);
}

Result<std::string> StoredJobs::submit(sandbox::Job job, const std::string& run,
                                       const std::string& device) {
  Lane* lane = lane_of(device);
  if (lane == nullptr) {
    std::string names;
    for (const std::string& name : devices()) names += (names.empty() ? "" : ", ") + name;
    return fail(ErrorCode::invalid_argument,
                "unknown device '" + device + "'; valid: " + (names.empty() ? "none" : names));
  }
  auto live = std::make_shared<Live>();
  live->job = std::move(job);
  if (live->job.id.empty()) live->job.id = new_handle("job");
  live->job.run = run;
  std::string id = live->job.id;
  {
    const std::lock_guard lock(mutex_);
    if (lane->queue.size() >= limits_.queued_per_device) {
      return fail(ErrorCode::resource_exhausted,
                  "device " + lane->name + " is busy: " + std::to_string(lane->queue.size()) +
                      " jobs wait, yours would be at position " +
                      std::to_string(lane->queue.size() + 1) + "; try again in " +
                      about(lane->estimate.ms(lane->queue.size() + 1)) + ", nothing was charged");
    }
  }
  if (const Status stored = runs_.accept(live->job, lane->name); !stored)
    return fail(stored.error());
  {
    // Several callers may have passed the check above at once: the bound is exceeded by at most
    // their number, never by a lost job.
    const std::lock_guard lock(mutex_);
    enqueue(*lane, live);
  }
  changed_.notify_all();
  return id;
}

std::shared_ptr<StoredJobs::Live> StoredJobs::live(const std::string& job) const {
  const std::lock_guard lock(mutex_);
  const auto found = live_.find(job);
  return found == live_.end() ? nullptr : found->second;
}

JobStatus StoredJobs::status_of(const Live& live) const {
  JobStatus status;
  status.job = live.job.id;
  status.run = live.job.run;
  status.state = live.state;
  status.stage = sandbox::to_string(live.stage);
  status.cases_done = live.cases_done;
  status.cases_total = live.cases_total;
  status.verdict = live.verdict;
  if (live.state == JobState::queued) {
    status.queue_position = static_cast<std::int64_t>(live.lane->queue.position(live.job.id));
    status.expected_wait_ms = live.lane->estimate.ms(live.lane->queue.position(live.job.id));
  }
  status.elapsed_ms =
      ((live.verdict ? live.finished_ns : clock_.monotonic_ns()) - live.queued_ns) / 1'000'000;
  return status;
}

Result<JobStatus> StoredJobs::wait(const std::string& job, std::int64_t wait_ms,
                                   const std::function<void(const JobStatus&)>& progress) {
  if (!is_handle(job, "job"))
    return fail(
        ErrorCode::invalid_argument,
        "that is no job handle; compile, run_tests, profile and submit give one like job_...");
  const std::shared_ptr<Live> watched = live(job);
  if (!watched) {
    auto stored = store_.finished_job(job);
    if (!stored) return fail(stored.error());
    if (!*stored)
      return fail(ErrorCode::unavailable, "job " + job +
                                              " was accepted by a server that stopped; it is taken "
                                              "up when one recovers this store");
    JobStatus status;
    status.job = job;
    status.run = (*stored)->run;
    status.state = (*stored)->state;
    status.stage = sandbox::to_string((*stored)->verdict.stage);
    status.elapsed_ms = (*stored)->elapsed_ms;
    status.verdict = std::move((*stored)->verdict);
    return status;
  }
  const auto end =
      std::chrono::steady_clock::now() +
      std::chrono::milliseconds(std::clamp<std::int64_t>(wait_ms, 0, limits_.max_wait_ms));
  std::unique_lock lock(mutex_);
  while (!watched->verdict && !stopping_ && std::chrono::steady_clock::now() < end) {
    const auto seen_state = watched->state;
    const auto seen_stage = watched->stage;
    const auto seen_cases = watched->cases_done;
    const auto moved = [&] {
      return watched->state != seen_state || watched->stage != seen_stage ||
             watched->cases_done != seen_cases;
    };
    changed_.wait_until(lock, end, [&] { return stopping_ || watched->verdict || moved(); });
    if (!progress || !moved() || watched->verdict) continue;
    const JobStatus status = status_of(*watched);
    lock.unlock();
    progress(status);
    lock.lock();
  }
  if (stopping_ && !watched->verdict) {
    return fail(ErrorCode::unavailable, "the server is stopping; job " + job +
                                            " is stored and is taken up again at its next start");
  }
  return status_of(*watched);
}

Status StoredJobs::cancel(const std::string& job) {
  const std::shared_ptr<Live> found = live(job);
  if (!found) {
    const auto known = wait(job, 0, nullptr);
    return known ? Status() : fail(known.error());  // what is over stays as it is
  }
  bool was_queued = false;
  {
    const std::lock_guard lock(mutex_);
    was_queued = found->lane->queue.remove(job);
    found->stop.request_stop();
  }
  if (was_queued)
    finish(found,
           verdict_without_execution(found->job, ErrorKind::cancelled, "cancelled before it ran"));
  return {};
}

void StoredJobs::work(Lane& lane) {
  while (true) {
    std::shared_ptr<Live> next;
    {
      std::unique_lock lock(mutex_);
      changed_.wait(lock, [&] { return stopping_ || lane.queue.size() > 0; });
      if (stopping_) return;
      next = live_.at(*lane.queue.pop());
      next->state = JobState::running;
    }
    changed_.notify_all();
    execute(lane, next);
  }
}

void StoredJobs::execute(Lane& lane, const std::shared_ptr<Live>& live) {
  live->monitor.stage_changed = [this, &live](Stage stage) {
    {
      const std::lock_guard lock(mutex_);
      live->stage = stage;
      live->cases_done = 0;
    }
    changed_.notify_all();
  };
  live->monitor.case_done = [this, &live](std::int64_t done, std::int64_t total) {
    {
      const std::lock_guard lock(mutex_);
      live->cases_done = done;
      live->cases_total = total;
    }
    changed_.notify_all();
  };
  const std::int64_t begin_ns = clock_.monotonic_ns();
  Verdict verdict;
  try {
    verdict = lane.device->execute(live->job, live->monitor);
  } catch (const std::exception&
               error) {  // execute() promises not to; a worker must not die of a broken promise
    verdict = verdict_without_execution(live->job, ErrorKind::internal_error,
                                        std::string("the device failed: ") + error.what());
  }
  // The device began to count when it took the job.
  verdict.stage_ms[std::string(sandbox::to_string(Stage::queue))] +=
      static_cast<double>(begin_ns - live->queued_ns) / 1e6;
  {
    const std::lock_guard lock(mutex_);
    lane.estimate.add((clock_.monotonic_ns() - begin_ns) / 1'000'000);
    // Unfinished in the store: the next start takes it up. Whatever its verdict says: a step beside
    // the main one may be what was cut short, and then the verdict is another than that of an
    // undisturbed job.
    if (stopping_) return;
  }
  finish(live, checked_verdict(live->job, std::move(verdict)));
}

void StoredJobs::finish(const std::shared_ptr<Live>& live, Verdict verdict) {
  const JobState state = verdict.error_kind == ErrorKind::cancelled ? JobState::cancelled
                         : verdict.error_kind == ErrorKind::aborted ? JobState::aborted
                                                                    : JobState::finished;
  const bool refund = sandbox::is_infrastructure_error(verdict.error_kind);
  auto stored = store_.finish(live->job.id, state, std::move(verdict), refund, clock_.unix_ms());
  // An unstored verdict must not be announced: after a restart it would be gone, and the job would
  // run again.
  verdict = stored ? std::move(*stored)
                   : verdict_without_execution(
                         live->job, ErrorKind::internal_error,
                         "the verdict could not be stored: " + stored.error().message);
  {
    const std::lock_guard lock(mutex_);
    live->state = state;
    live->stage = verdict.stage;
    live->finished_ns = clock_.monotonic_ns();
    live->verdict = std::move(verdict);
    live_.erase(live->job.id);
  }
  changed_.notify_all();
}

Result<Recovered> StoredJobs::recover() {
  const auto unfinished = store_.unfinished_jobs();
  if (!unfinished) return fail(unfinished.error());
  Recovered recovered;
  for (const UnfinishedJob& stored : *unfinished) {
    Lane* lane = lane_of(stored.device);
    std::string why_not;
    if (!stored.request || stored.request->source.empty())
      why_not = "its source could not be read back";
    else if (lane == nullptr)
      why_not = "device " + stored.device + " is not here any more";
    else if (stored.attempts >= limits_.attempts)
      why_not = "it was interrupted " + std::to_string(stored.attempts + 1) + " times";
    if (why_not.empty()) {
      if (const Status counted = store_.count_attempt(stored.job); !counted)
        return fail(counted.error());
      auto live = std::make_shared<Live>();
      live->job = *stored.request;
      live->job.run = stored.run;
      const std::lock_guard lock(mutex_);
      enqueue(*lane, live);
      ++recovered.requeued;
      continue;
    }
    sandbox::Job job;
    job.id = stored.job;
    job.kind = stored.kind;
    job.operator_name = stored.operator_name;
    Verdict verdict = verdict_without_execution(
        job, ErrorKind::aborted,
        "aborted by a restart of the server: " + why_not + "; send it again");
    const auto finished =
        store_.finish(stored.job, JobState::aborted, std::move(verdict), true, clock_.unix_ms());
    if (!finished) return fail(finished.error());
    ++recovered.aborted;
  }
  changed_.notify_all();
  return recovered;
}

}  // namespace assay::server
