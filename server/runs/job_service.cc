#include "server/runs/job_service.h"

#include <algorithm>
#include <cstdint>
#include <exception>

#include "base/log.h"
#include "base/result.h"
#include "base/text.h"
#include "server/runs/finished_job.h"
#include "server/runs/job_status.h"

namespace assay::server {

using sandbox::ErrorKind;
using sandbox::Stage;
using sandbox::Verdict;
using tools::JobState;
using tools::JobStatus;

StoredJobs::StoredJobs(Store& store, StoredRuns& runs, const Clock& clock, Devices devices,
                       const QueueLimits& limits, JobObserver observer)
    : store_(store),
      runs_(runs),
      clock_(clock),
      limits_(limits),
      observer_(std::move(observer)),
      writer_(store, clock),
      ended_(limits.ended_in_memory),
      verdicts_(writer_, clock, limits.verdicts_to_store, stop_.get_token(),
                [this](ActiveJob& job, Verdict verdict) { announce(job, std::move(verdict)); }) {
  for (auto& [name, device] : devices)
    queues_.push_back(std::make_unique<DeviceQueue>(std::move(name), std::move(device),
                                                    limits_.queued_per_device, limits_.shares));
  for (const auto& queue : queues_) {
    for (int i = 0; i < queue->workers(); ++i)
      workers_.emplace_back([this, &queue = *queue] { work(queue); });
  }
}

StoredJobs::~StoredJobs() {
  // The stop request must come before the jobs are cancelled. When a worker's job is cancelled
  // below, the worker must already see that the service stops, so that it does not store the
  // verdict.
  stop_.request_stop();
  std::map<std::string, std::shared_ptr<ActiveJob>> active;
  {
    const MutexLock lock(mutex_);
    active = active_;
  }
  for (const auto& [id, job] : active) {
    job->cancel();
    job->abandon();
  }
}

std::vector<std::string> StoredJobs::devices() const {
  std::vector<std::string> names;
  names.reserve(queues_.size());
  for (const auto& queue : queues_) names.push_back(queue->name());
  return names;
}

std::vector<StoredJobs::Load> StoredJobs::load() const {
  std::vector<Load> loads;
  loads.reserve(queues_.size());
  for (const auto& queue : queues_) {
    const DeviceQueue::Load load = queue->load();
    loads.push_back({queue->name(), load.queued, load.running, queue->device().processes(),
                     queue->device().info().description});
  }
  return loads;
}

std::vector<StoredJobs::Unfinished> StoredJobs::unfinished_of(
    const tools::Principal& principal) const {
  std::vector<std::shared_ptr<ActiveJob>> own;
  {
    const MutexLock lock(mutex_);
    for (const auto& [handle, job] : active_)
      if (job->job().caller == principal.name) own.push_back(job);
  }
  std::vector<Unfinished> found;
  for (const std::shared_ptr<ActiveJob>& job : own) {
    ActiveJob::Progress now = job->progress();
    if (now.over()) continue;
    found.push_back({status_of(*job, std::move(now), clock_, /*with_engine=*/false),
                     job->job().operator_name, job->queue().name(), job->job().kind});
  }
  return found;
}

DeviceQueue* StoredJobs::queue_of(const std::string& device) const {
  if (queues_.empty()) return nullptr;
  if (device.empty()) return queues_.front().get();
  const auto found = std::find_if(queues_.begin(), queues_.end(),
                                  [&](const auto& queue) { return queue->name() == device; });
  return found == queues_.end() ? nullptr : found->get();
}

void StoredJobs::set_shares(const ShareSettings& shares) {
  for (const auto& queue : queues_) queue->set_shares(shares);
}

void StoredJobs::refuse_jobs() {
  const MutexLock lock(mutex_);
  refuses_jobs_ = true;
}

bool StoredJobs::wait_until_idle(std::int64_t limit_ms, std::stop_token stop) const {
  const std::int64_t until_ns = clock_.monotonic_ns() + limit_ms * kNsPerMs;
  MutexLock lock(mutex_);
  return clock_.wait_until(idle_, lock, std::move(stop), until_ns,
                           [&]() ASSAY_REQUIRES(mutex_) { return active_.empty(); });
}

Status StoredJobs::check_accepts_jobs() const {
  const MutexLock lock(mutex_);
  if (!refuses_jobs_) return {};
  return fail(ErrorCode::unavailable,
              "the server is stopping and accepts no new jobs. The call was not charged. Send it "
              "again in some seconds, when the next server runs");
}

void StoredJobs::add(const std::shared_ptr<ActiveJob>& active) {
  const MutexLock lock(mutex_);
  active_[active->job().id] = active;
}

std::shared_ptr<ActiveJob> StoredJobs::active(const tools::Principal& principal,
                                              const std::string& job) const {
  const MutexLock lock(mutex_);
  const auto found = active_.find(job);
  if (found == active_.end() || found->second->job().caller != principal.name) return nullptr;
  return found->second;
}

Result<std::string> StoredJobs::submit(const tools::Principal& principal, sandbox::Job job,
                                       const std::string& run, const std::string& device) {
  std::vector<tools::NewJob> jobs;
  jobs.push_back({std::move(job), run, device});
  return std::move(submit_all(principal, std::move(jobs)).front());
}

Result<JobStatus> StoredJobs::wait(const tools::Principal& principal, const std::string& job,
                                   std::int64_t wait_ms,
                                   const std::function<bool(const JobStatus&)>& progress,
                                   std::stop_token stop) {
  ASSAY_RETURN_IF_ERROR(check_job_handle(job));
  std::shared_ptr<ActiveJob> watched = active(principal, job);
  // If the recovery fails, the answer about an unfinished job says that it waits for a server.
  if (!watched && recover_if_pending()) watched = active(principal, job);
  if (!watched) {
    if (auto ended = ended_.find(principal.name, job)) return std::move(*ended);
    return stored_status(store_, writer_, principal, job);
  }
  const std::int64_t until_ns =
      clock_.monotonic_ns() + std::clamp<std::int64_t>(wait_ms, 0, limits_.max_wait_ms) * kNsPerMs;
  ActiveJob::Progress now = watched->progress();
  while (!now.over()) {
    auto changed = watched->wait_for_change(now, until_ns, stop);
    if (!changed) break;
    now = std::move(*changed);
    if (progress && !now.over() &&
        !progress(status_of(*watched, now, clock_, /*with_engine=*/true)))
      break;
  }
  if (now.abandoned && !now.verdict)
    return fail(ErrorCode::unavailable,
                "the server is stopping; job " + job +
                    " is stored, and the next start of the server runs it again");
  return status_of(*watched, std::move(now), clock_, /*with_engine=*/true);
}

Status StoredJobs::cancel(const tools::Principal& principal, const std::string& job) {
  const std::shared_ptr<ActiveJob> found = active(principal, job);
  if (!found) {
    const auto known = wait(principal, job, 0, nullptr);
    // A job that has already ended keeps its verdict, so a cancellation changes nothing.
    return known ? Status() : fail(known.error());
  }
  if (!found->job().run.empty())
    ASSAY_RETURN_IF_ERROR(runs_.check_scope_of(principal, found->job().run));
  const bool was_queued = found->queue().remove(job);
  found->cancel();
  if (was_queued) end_queued(*found);
  return {};
}

Result<bool> StoredJobs::cancel_queued(const tools::Principal& principal, const std::string& job) {
  const std::shared_ptr<ActiveJob> found = active(principal, job);
  if (!found) {
    const auto known = wait(principal, job, 0, nullptr);
    return known ? Result<bool>(false) : Result<bool>(fail(known.error()));
  }
  if (!found->job().run.empty())
    ASSAY_RETURN_IF_ERROR(runs_.check_scope_of(principal, found->job().run));
  if (!found->queue().remove(job)) return false;
  end_queued(*found);
  return true;
}

void StoredJobs::end_queued(ActiveJob& active) {
  announce(active, writer_.store(active.job(),
                                 verdict_without_execution(active.job(), ErrorKind::cancelled,
                                                           "cancelled before it ran"),
                                 stop_.get_token()));
}

Result<tools::JobSource> StoredJobs::source(const tools::Principal& principal,
                                            const std::string& job) {
  ASSAY_RETURN_IF_ERROR(check_job_handle(job));
  return store_.source_of(job, principal.name);
}

void StoredJobs::work(DeviceQueue& queue) {
  while (const std::shared_ptr<ActiveJob> next = queue.pop(stop_.get_token())) execute(queue, next);
}

void StoredJobs::execute(DeviceQueue& queue, const std::shared_ptr<ActiveJob>& job) {
  ActiveJob& active = *job;
  const std::int64_t begin_ns = clock_.monotonic_ns();
  Verdict verdict = judged(queue, active);
  const std::int64_t end_ns = clock_.monotonic_ns();
  // The time in the queue is added here, because the device does not know this time.
  verdict.stage_ms[std::string(sandbox::to_string(Stage::queue))] +=
      static_cast<double>(begin_ns - active.queued_ns()) / kNsPerMs;
  // A verdict that arrives after the stop request is not stored. The stop may have interrupted a
  // part of the job, so the verdict may differ from that of an undisturbed job. After a restart,
  // the server runs the job again.
  if (stop_.stop_requested()) return;
  queue.ended(active.job(), (end_ns - begin_ns) / kNsPerMs);
  verdicts_.push(job, checked_verdict(active.job(), std::move(verdict)));
}

Verdict StoredJobs::judged(DeviceQueue& queue, ActiveJob& active) {
  for (int left = limits_.repetitions;; --left) {
    Verdict verdict;
    try {
      verdict = queue.device().execute(active.job(), active.monitor());
    } catch (const std::exception& error) {
      // execute() should never throw. If it does, the worker must still continue with other jobs.
      verdict = verdict_without_execution(active.job(), ErrorKind::internal_error,
                                          std::string("the device failed: ") + error.what());
    }
    // A device that reports `aborted` has already run the job several times. A submission could
    // report a shortage in any job, to get a second attempt whenever its result on hidden cases is
    // wrong. So such a report counts only while the submission has no hidden cases.
    const bool may_be_ours = (sandbox::is_infrastructure_error(verdict.error_kind) &&
                              verdict.error_kind != ErrorKind::aborted) ||
                             (verdict.reports_shortage &&
                              verdict.outcome != sandbox::Outcome::pass && !verdict.tells_hidden);
    if (left <= 0 || !may_be_ours || active.monitor().stop.stop_requested()) return verdict;
    // A client over stdio can read this log. The kind of the error tells nothing of hidden cases:
    // either the submission had none, or it is no error of the submission. The detail might.
    log::warning("job runs again", {{"job", active.job().id},
                                    {"device", queue.device().info().name},
                                    {"error", sandbox::to_string(verdict.error_kind)}});
  }
}

void StoredJobs::announce(ActiveJob& active, Verdict verdict) {
  const JobState state = end_state(verdict);
  log_finished_job(active.job(), state, verdict);
  if (observer_) {
    const auto queued = verdict.stage_ms.find(std::string(sandbox::to_string(Stage::queue)));
    observer_({active.job(), state, verdict, active.queue().name(), clock_.unix_ms(),
               (clock_.monotonic_ns() - active.queued_ns()) / kNsPerMs,
               queued == verdict.stage_ms.end() ? 0 : queued->second});
  }
  active.end(state, std::move(verdict));
  ended_.add(active.job().caller, status_of(active, active.progress(), clock_, false));
  {
    const MutexLock lock(mutex_);
    active_.erase(active.job().id);
    if (!active_.empty()) return;
  }
  idle_.notify_all();
}

Result<Recovered> StoredJobs::recover() {
  const MutexLock lock(recovery_mutex_);
  recovery_pending_ = !store_.writable();
  if (recovery_pending_) return Recovered();
  Result<Recovered> recovered = recover_now();
  if (recovered || recovered.error().code != ErrorCode::unavailable) return recovered;
  log::error("jobs of an earlier server cannot be queued now",
             {{"error", recovered.error().message}});
  recovery_pending_ = true;
  return Recovered();
}

Status StoredJobs::recover_if_pending() {
  const MutexLock lock(recovery_mutex_);
  if (!recovery_pending_) return {};
  ASSAY_RETURN_IF_ERROR(store_.make_writable());
  ASSAY_TRY(recovered, recover_now());
  recovery_pending_ = false;
  log::info("jobs of an earlier server are queued again",
            {{"queued", recovered.requeued}, {"aborted", recovered.aborted}});
  return {};
}

Result<Recovered> StoredJobs::recover_now() {
  ASSAY_TRY(unfinished, store_.unfinished_jobs());
  Recovered recovered;
  for (const UnfinishedJob& left : unfinished) {
    // An earlier, incomplete recovery may have queued the job.
    if (active({.name = left.principal}, left.job)) continue;
    DeviceQueue* queue = queue_of(left.device);
    std::string why_not;
    if (!left.request || left.request->source.empty())
      why_not = "its source could not be read back";
    else if (queue == nullptr)
      why_not = "this server has no device " + left.device;
    else if (left.attempts >= limits_.attempts)
      why_not = "it was interrupted " + std::to_string(left.attempts + 1) + " times";
    if (why_not.empty()) {
      const bool refund = left.kind != sandbox::JobKind::grade;
      ASSAY_RETURN_IF_ERROR(store_.begin_again(left.job, refund));
      sandbox::Job job = *left.request;
      job.run = left.run;
      job.caller = left.principal;
      job.batch = true;  // its client has lost the connection
      const auto active = std::make_shared<ActiveJob>(std::move(job), *queue, clock_);
      add(active);
      queue->push_recovered(active);
      ++recovered.requeued;
      continue;
    }
    sandbox::Job job;
    job.id = left.job;
    job.kind = left.kind;
    job.operator_name = left.operator_name;
    Verdict verdict = verdict_without_execution(
        job, ErrorKind::aborted,
        "aborted by a restart of the server: " + why_not + "; submit it again");
    ASSAY_RETURN_IF_ERROR(
        store_.finish(left.job, JobState::aborted, std::move(verdict), true, clock_.unix_ms()));
    ++recovered.aborted;
  }
  return recovered;
}

}  // namespace assay::server
