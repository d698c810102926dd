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

}  // namespace

DeviceQueue::DeviceQueue(std::string name, std::unique_ptr<sandbox::Device> device,
                         QueueCapacity capacity)
    : name_(std::move(name)),
      device_(std::move(device)),
      workers_(std::max(device_->info().concurrency, 1)),
      capacity_(capacity),
      queue_(workers_) {}

Status DeviceQueue::reserve(const std::string& principal) {
  const MutexLock lock(mutex_);
  const std::size_t all = queue_.size() + reserved_;
  const auto known = taken_.find(principal);
  const std::size_t own = known == taken_.end() ? 0 : known->second;
  const std::string again =
      ". The call was not charged. Try again in " + about(queue_.wait_of_all_ms());
  if (!principal.empty() && own >= capacity_.per_principal)
    return fail(ErrorCode::resource_exhausted,
                "device " + name_ + ": " + std::to_string(own) +
                    " jobs of your token wait, and a token may have at most " +
                    std::to_string(capacity_.per_principal) + again);
  if (all >= capacity_.total)
    return fail(ErrorCode::resource_exhausted, "device " + name_ +
                                                   " is busy: " + std::to_string(all) +
                                                   " jobs wait, and yours would be at position " +
                                                   std::to_string(all + 1) + again);
  ++reserved_;
  ++taken_[principal];
  return {};
}

void DeviceQueue::give_back(const std::string& principal) {
  const auto taken = taken_.find(principal);
  if (--taken->second == 0) taken_.erase(taken);
}

void DeviceQueue::release(const std::string& principal) {
  const MutexLock lock(mutex_);
  --reserved_;
  give_back(principal);
}

void DeviceQueue::push(const std::shared_ptr<ActiveJob>& job) {
  const MutexLock lock(mutex_);
  --reserved_;
  add(job);
}

void DeviceQueue::push_recovered(const std::shared_ptr<ActiveJob>& job) {
  const MutexLock lock(mutex_);
  ++taken_[job->job().caller];
  add(job);
}

void DeviceQueue::add(const std::shared_ptr<ActiveJob>& job) {
  const sandbox::Job& made = job->job();
  queue_.push(share_of(made), {made.id, made.kind, made.priority});
  waiting_[made.id] = job;
  pushed_.notify_one();
}

std::shared_ptr<ActiveJob> DeviceQueue::pop(const std::stop_token& stop) {
  MutexLock lock(mutex_);
  pushed_.wait(lock, stop, [&]() ASSAY_REQUIRES(mutex_) { return queue_.size() > 0; });
  if (stop.stop_requested()) return nullptr;
  const auto next = waiting_.extract(*queue_.pop());
  ++running_;
  give_back(next.mapped()->job().caller);
  next.mapped()->begin();
  return next.mapped();
}

bool DeviceQueue::remove(const std::string& job) {
  const MutexLock lock(mutex_);
  const auto found = waiting_.find(job);
  if (found == waiting_.end()) return false;
  give_back(found->second->job().caller);
  waiting_.erase(found);
  return queue_.remove(job);
}

void DeviceQueue::ended(const sandbox::Job& job, std::int64_t job_ms) {
  const MutexLock lock(mutex_);
  --running_;
  queue_.add_duration(share_of(job), job.kind, job_ms);
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
  principals_.add(share.principal);
  lane.runs.add(share.run);
  std::deque<Waiting>& jobs = lane.jobs[share.run];
  auto place = jobs.end();
  while (place != jobs.begin() && std::prev(place)->priority < waiting.priority) --place;
  jobs.insert(place, std::move(waiting));
  ++size_;
}

std::optional<std::string> JobQueue::pop() {
  std::optional<Waiting> taken = take();
  return taken ? std::optional(std::move(taken->job)) : std::nullopt;
}

std::optional<JobQueue::Waiting> JobQueue::take() {
  const std::optional<std::string> principal = principals_.next();
  if (!principal) return std::nullopt;
  const auto lane = lanes_.find(*principal);
  const std::string run = *lane->second.runs.next();
  const auto jobs = lane->second.jobs.find(run);
  Waiting taken = std::move(jobs->second.front());
  jobs->second.pop_front();
  --size_;
  const double cost_ms = expected_ms(taken.kind);
  principals_.take(*principal, cost_ms);
  lane->second.runs.take(run, cost_ms);
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
  principals_.correct(share.principal, more_ms);
  if (const auto lane = lanes_.find(share.principal); lane != lanes_.end())
    lane->second.runs.correct(share.run, more_ms);
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
