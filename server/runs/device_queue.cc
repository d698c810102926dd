#include "server/runs/device_queue.h"

#include <algorithm>
#include <utility>

namespace assay::server {
namespace {

std::string about(const std::optional<std::int64_t>& wait_ms) {
  return wait_ms ? "about " + std::to_string((*wait_ms + 999) / 1'000) + " s"
                 : std::string("some seconds");
}

Share share_of(const sandbox::Job& job) { return {job.caller, job.run}; }

constexpr double kWeight = 0.2;  // the weight of the newest duration in the mean

void count_down(std::map<std::string, std::size_t>& counts, const std::string& name) {
  const auto found = counts.find(name);
  if (found != counts.end() && --found->second == 0) counts.erase(found);
}

std::size_t count_of(const std::map<std::string, std::size_t>& counts, const std::string& name) {
  const auto found = counts.find(name);
  return found == counts.end() ? 0 : found->second;
}

}  // namespace

void DeviceQueue::Counts::add(const Share& share) {
  if (!share.principal.empty()) ++tokens[share.principal];
  if (!share.run.empty()) ++runs[share.run];
}

void DeviceQueue::Counts::remove(const Share& share) {
  count_down(tokens, share.principal);
  count_down(runs, share.run);
}

std::size_t DeviceQueue::Counts::of_token(const std::string& name) const {
  return count_of(tokens, name);
}

std::size_t DeviceQueue::Counts::of_run(const std::string& name) const {
  return count_of(runs, name);
}

DeviceQueue::DeviceQueue(std::string name, std::unique_ptr<sandbox::Device> device,
                         QueueCapacity capacity, ShareSettings shares)
    : name_(std::move(name)),
      device_(std::move(device)),
      workers_(std::max(device_->info().concurrency, 1)),
      capacity_(capacity),
      queue_(workers_),
      shares_(std::move(shares)) {
  const MutexLock lock(mutex_);
  queue_.set_weights(shares_);
}

void DeviceQueue::set_shares(ShareSettings shares) {
  {
    const MutexLock lock(mutex_);
    shares_ = std::move(shares);
    queue_.set_weights(shares_);
  }
  pushed_.notify_all();  // a job may fit now
}

Status DeviceQueue::reserve(const Share& share) {
  const MutexLock lock(mutex_);
  const std::size_t all = queue_.size() + reserved_;
  const std::size_t own = waiting_counts_.of_token(share.principal);
  const std::size_t most_own =
      shares_.token(share.principal).queued.value_or(capacity_.per_principal);
  const std::size_t of_run = waiting_counts_.of_run(share.run);
  const std::optional<std::size_t> most_of_run = shares_.run(share.run).queued;
  const std::string again =
      ". The call was not charged. Try again in " + about(queue_.wait_of_all_ms());
  if (!share.principal.empty() && own >= most_own)
    return fail(ErrorCode::resource_exhausted,
                "device " + name_ + ": " + std::to_string(own) +
                    " jobs of your token wait, and a token may have at most " +
                    std::to_string(most_own) + again);
  if (most_of_run && of_run >= *most_of_run)
    return fail(ErrorCode::resource_exhausted,
                "device " + name_ + ": " + std::to_string(of_run) +
                    " jobs of this run wait, and the run may have at most " +
                    std::to_string(*most_of_run) + again);
  if (all >= capacity_.total)
    return fail(ErrorCode::resource_exhausted, "device " + name_ +
                                                   " is busy: " + std::to_string(all) +
                                                   " jobs wait, and yours would be at position " +
                                                   std::to_string(all + 1) + again);
  ++reserved_;
  waiting_counts_.add(share);
  return {};
}

void DeviceQueue::release(const Share& share) {
  const MutexLock lock(mutex_);
  --reserved_;
  waiting_counts_.remove(share);
}

void DeviceQueue::push(const std::shared_ptr<ActiveJob>& job) {
  const MutexLock lock(mutex_);
  --reserved_;
  add(job);
}

void DeviceQueue::push_recovered(const std::shared_ptr<ActiveJob>& job) {
  const MutexLock lock(mutex_);
  waiting_counts_.add(share_of(job->job()));
  add(job);
}

void DeviceQueue::add(const std::shared_ptr<ActiveJob>& job) {
  const sandbox::Job& made = job->job();
  queue_.push(share_of(made), {made.id, made.kind, made.priority, made.batch});
  waiting_[made.id] = job;
  pushed_.notify_one();
}

bool DeviceQueue::may_run(const Share& share, bool batch) const {
  if (batch && running_batch_ >= workers_ - shares_.reserved(workers_)) return false;
  const std::optional<std::size_t> most_own = shares_.token(share.principal).running;
  if (most_own && running_counts_.of_token(share.principal) >= *most_own) return false;
  const std::optional<std::size_t> most_of_run = shares_.run(share.run).running;
  return !most_of_run || running_counts_.of_run(share.run) < *most_of_run;
}

std::shared_ptr<ActiveJob> DeviceQueue::pop(const std::stop_token& stop) {
  MutexLock lock(mutex_);
  const JobQueue::Fits fits = [&](const Share& share, bool batch)
                                  ASSAY_REQUIRES(mutex_) { return may_run(share, batch); };
  pushed_.wait(lock, stop, [&]() ASSAY_REQUIRES(mutex_) { return queue_.has(fits); });
  if (stop.stop_requested()) return nullptr;
  const auto next = waiting_.extract(*queue_.pop(fits));
  const Share share = share_of(next.mapped()->job());
  ++running_;
  running_batch_ += next.mapped()->job().batch;
  running_counts_.add(share);
  waiting_counts_.remove(share);
  next.mapped()->begin();
  return next.mapped();
}

bool DeviceQueue::remove(const std::string& job) {
  const MutexLock lock(mutex_);
  const auto found = waiting_.find(job);
  if (found == waiting_.end()) return false;
  waiting_counts_.remove(share_of(found->second->job()));
  waiting_.erase(found);
  return queue_.remove(job);
}

void DeviceQueue::ended(const sandbox::Job& job, std::int64_t job_ms) {
  const MutexLock lock(mutex_);
  --running_;
  running_batch_ -= job.batch;
  running_counts_.remove(share_of(job));
  queue_.add_duration(share_of(job), job.kind, job_ms);
  if (queue_.size() > 0) pushed_.notify_one();  // a limit may have kept a job waiting
}

DeviceQueue::Place DeviceQueue::place_of(const std::string& job) const {
  const MutexLock lock(mutex_);
  const JobQueue::Place place = queue_.place_of(job);
  return {.position = static_cast<std::int64_t>(place.position), .expected_wait_ms = place.wait_ms};
}

DeviceQueue::Load DeviceQueue::load() const {
  const MutexLock lock(mutex_);
  return {.queued = static_cast<std::int64_t>(queue_.size()), .running = running_};
}

void JobQueue::push(const Share& share, Waiting waiting) {
  Lane& lane = lanes_[share.principal];
  principals_.add(share.principal, settings_.token(share.principal).weight);
  lane.runs.add(share.run, settings_.run(share.run).weight);
  std::deque<Waiting>& jobs = lane.jobs[share.run];
  auto place = jobs.end();
  while (place != jobs.begin() && std::prev(place)->priority < waiting.priority) --place;
  jobs.insert(place, std::move(waiting));
  ++size_;
}

std::optional<std::string> JobQueue::pop(const Fits& fits) {
  std::optional<Waiting> taken = take(fits);
  return taken ? std::optional(std::move(taken->job)) : std::nullopt;
}

bool JobQueue::has(const Fits& fits) const { return next(fits).has_value(); }

std::deque<JobQueue::Waiting>::const_iterator JobQueue::first_fit(const std::deque<Waiting>& jobs,
                                                                  const Share& share,
                                                                  const Fits& fits) {
  return std::find_if(jobs.begin(), jobs.end(),
                      [&](const Waiting& one) { return !fits || fits(share, one.batch); });
}

std::optional<Share> JobQueue::next(const Fits& fits) const {
  const auto run_of = [&](const std::string& principal) {
    const Lane& lane = lanes_.at(principal);
    return lane.runs.next([&](const std::string& run) {
      const std::deque<Waiting>& jobs = lane.jobs.at(run);
      return first_fit(jobs, {principal, run}, fits) != jobs.end();
    });
  };
  const std::optional<std::string> principal =
      principals_.next([&](const std::string& name) { return run_of(name).has_value(); });
  if (!principal) return std::nullopt;
  return Share{*principal, *run_of(*principal)};
}

std::optional<JobQueue::Waiting> JobQueue::take(const Fits& fits) {
  const std::optional<Share> share = next(fits);
  if (!share) return std::nullopt;
  const auto lane = lanes_.find(share->principal);
  const auto jobs = lane->second.jobs.find(share->run);
  const auto found = first_fit(jobs->second, *share, fits);
  Waiting taken = *found;
  jobs->second.erase(found);
  --size_;
  const double cost_ms = expected_ms(taken.kind);
  principals_.take(share->principal, cost_ms);
  lane->second.runs.take(share->run, cost_ms);
  if (jobs->second.empty()) lane->second.jobs.erase(jobs);
  if (lane->second.jobs.empty()) lanes_.erase(lane);
  return taken;
}

bool JobQueue::remove(const std::string& job) {
  for (auto lane = lanes_.begin(); lane != lanes_.end(); ++lane) {
    for (auto& [run, jobs] : lane->second.jobs) {
      const auto found = std::find_if(jobs.begin(), jobs.end(),
                                      [&](const Waiting& one) { return one.job == job; });
      if (found == jobs.end()) continue;
      jobs.erase(found);
      --size_;
      principals_.remove(lane->first);
      lane->second.runs.remove(run);
      if (jobs.empty()) lane->second.jobs.erase(std::string(run));
      if (lane->second.jobs.empty()) lanes_.erase(lane);
      return true;
    }
  }
  return false;
}

JobQueue::Place JobQueue::place_of(const std::string& job) const {
  JobQueue rest = *this;
  double before_ms = 0;
  for (std::size_t position = 1;; ++position) {
    const std::optional<Waiting> taken = rest.take();
    if (!taken) return {};
    if (taken->job == job)
      return {position, shared_among_workers(before_ms + expected_ms(taken->kind))};
    before_ms += expected_ms(taken->kind);
  }
}

std::optional<std::int64_t> JobQueue::wait_of_all_ms() const {
  double all_ms = 0;
  for (const auto& [principal, lane] : lanes_) {
    for (const auto& [run, jobs] : lane.jobs)
      for (const Waiting& one : jobs) all_ms += expected_ms(one.kind);
  }
  return shared_among_workers(all_ms);
}

void JobQueue::add_duration(const Share& share, sandbox::JobKind kind, std::int64_t job_ms) {
  const auto newest = static_cast<double>(job_ms);
  // pop() added the mean duration at that time. Other jobs may have changed the mean since, so this
  // correction is approximate.
  const double more_ms = newest - expected_ms(kind);
  principals_.correct(share.principal, more_ms, settings_.token(share.principal).weight);
  if (const auto lane = lanes_.find(share.principal); lane != lanes_.end())
    lane->second.runs.correct(share.run, more_ms, settings_.run(share.run).weight);
  const auto [mean, first] = mean_ms_.try_emplace(kind, newest);
  if (!first) mean->second += kWeight * (newest - mean->second);
}

/// Returns the mean duration of jobs of this kind in milliseconds. If no job of this kind has
/// ended, returns the longest mean of the other kinds. Returns 1 if no job has ended at all.
double JobQueue::expected_ms(sandbox::JobKind kind) const {
  if (const auto own = mean_ms_.find(kind); own != mean_ms_.end())
    return std::max(own->second, 1.0);
  double longest = 1;
  for (const auto& [other, ms] : mean_ms_) longest = std::max(longest, ms);
  return longest;
}

std::optional<std::int64_t> JobQueue::shared_among_workers(double ms) const {
  if (mean_ms_.empty()) return std::nullopt;
  return static_cast<std::int64_t>(ms / workers_);
}

}  // namespace assay::server
