#include "server/runs/device_queue.h"

#include <algorithm>
#include <utility>

namespace assay::server {
namespace {

std::string about(const std::optional<std::int64_t>& wait_ms) {
  return wait_ms ? "about " + std::to_string((*wait_ms + 999) / 1'000) + " s"
                 : std::string("some seconds");
}

/// Returns the client that a job belongs to. A practice job has no run, so all practice jobs of a
/// caller belong to one client. The prefixes make sure that the name of a caller cannot equal the
/// handle of a run.
std::string client_of(const sandbox::Job& job) {
  return job.run.empty() ? "caller " + job.caller : "run " + job.run;
}

constexpr double kWeight = 0.2;  // the weight of the newest duration in the mean

}  // namespace

DeviceQueue::DeviceQueue(std::string name, std::unique_ptr<sandbox::Device> device,
                         std::size_t capacity)
    : name_(std::move(name)),
      device_(std::move(device)),
      workers_(std::max(device_->info().concurrency, 1)),
      capacity_(capacity),
      queue_(workers_) {}

Status DeviceQueue::reserve() {
  const MutexLock lock(mutex_);
  const std::size_t taken = queue_.size() + reserved_;
  if (taken < capacity_) {
    ++reserved_;
    return {};
  }
  return fail(ErrorCode::resource_exhausted,
              "device " + name_ + " is busy: " + std::to_string(taken) +
                  " jobs wait, and yours would be at position " + std::to_string(taken + 1) +
                  ". The call was not charged. Try again in " + about(queue_.wait_of_all_ms()));
}

void DeviceQueue::release() {
  const MutexLock lock(mutex_);
  --reserved_;
}

void DeviceQueue::push(const std::shared_ptr<ActiveJob>& job) {
  const MutexLock lock(mutex_);
  --reserved_;
  add(job);
}

void DeviceQueue::push_recovered(const std::shared_ptr<ActiveJob>& job) {
  const MutexLock lock(mutex_);
  add(job);
}

void DeviceQueue::add(const std::shared_ptr<ActiveJob>& job) {
  const sandbox::Job& made = job->job();
  queue_.push(client_of(made), {made.id, made.kind});
  waiting_[made.id] = job;
  pushed_.notify_one();
}

std::shared_ptr<ActiveJob> DeviceQueue::pop(const std::stop_token& stop) {
  MutexLock lock(mutex_);
  pushed_.wait(lock, stop, [&]() ASSAY_REQUIRES(mutex_) { return queue_.size() > 0; });
  if (stop.stop_requested()) return nullptr;
  const auto next = waiting_.extract(*queue_.pop());
  ++running_;
  next.mapped()->begin();
  return next.mapped();
}

bool DeviceQueue::remove(const std::string& job) {
  const MutexLock lock(mutex_);
  waiting_.erase(job);
  return queue_.remove(job);
}

void DeviceQueue::ended(const sandbox::Job& job, std::int64_t job_ms) {
  const MutexLock lock(mutex_);
  --running_;
  queue_.add_duration(client_of(job), job.kind, job_ms);
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

void JobQueue::push(const std::string& client, Waiting waiting) {
  auto known = std::find_if(clients_.begin(), clients_.end(),
                            [&](const Client& one) { return one.name == client; });
  if (known == clients_.end()) {
    const auto ahead = ahead_.find(client);
    const double served_ms = ahead == ahead_.end() ? now_ms_ : std::max(now_ms_, ahead->second);
    if (ahead != ahead_.end()) ahead_.erase(ahead);
    known = clients_.insert(clients_.end(), Client{client, served_ms, {}});
  }
  known->jobs.push_back(std::move(waiting));
  ++size_;
}

std::optional<std::string> JobQueue::pop() {
  std::optional<Waiting> taken = take();
  return taken ? std::optional(std::move(taken->job)) : std::nullopt;
}

std::optional<JobQueue::Waiting> JobQueue::take() {
  // If several clients have been served up to the same time, min_element() returns the first of the
  // list. New clients, and clients whose job was just taken, go to the end of the list. So the
  // first client has waited longest.
  const auto next =
      std::min_element(clients_.begin(), clients_.end(),
                       [](const Client& a, const Client& b) { return a.served_ms < b.served_ms; });
  if (next == clients_.end()) return std::nullopt;
  Waiting taken = std::move(next->jobs.front());
  next->jobs.pop_front();
  --size_;
  const double cost_ms = expected_ms(taken.kind);
  now_ms_ = std::max(now_ms_, next->served_ms) + cost_ms / static_cast<double>(clients_.size());
  next->served_ms += cost_ms;
  if (next->jobs.empty()) {
    drop(next);
  } else {
    clients_.splice(clients_.end(), clients_, next);
  }
  return taken;
}

/// Removes a client that has no more waiting jobs, and remembers the time up to which it was
/// served. If no other client has waiting jobs, the queue forgets all these times, because no
/// client has to make up for earlier use.
void JobQueue::drop(std::list<Client>::iterator client) {
  ahead_[client->name] = client->served_ms;
  clients_.erase(client);
  if (clients_.empty())
    ahead_.clear();
  else
    std::erase_if(ahead_, [&](const auto& one) { return one.second <= now_ms_; });
}

bool JobQueue::remove(const std::string& job) {
  for (auto client = clients_.begin(); client != clients_.end(); ++client) {
    const auto found = std::find_if(client->jobs.begin(), client->jobs.end(),
                                    [&](const Waiting& one) { return one.job == job; });
    if (found == client->jobs.end()) continue;
    client->jobs.erase(found);
    --size_;
    if (client->jobs.empty()) drop(client);
    return true;
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
  for (const Client& client : clients_)
    for (const Waiting& one : client.jobs) all_ms += expected_ms(one.kind);
  return shared_among_workers(all_ms);
}

void JobQueue::add_duration(const std::string& client, sandbox::JobKind kind, std::int64_t job_ms) {
  const auto newest = static_cast<double>(job_ms);
  // pop() added the mean duration at that time. Other jobs may have changed the mean since, so this
  // correction is approximate.
  const double more_ms = newest - expected_ms(kind);
  const auto waiting = std::find_if(clients_.begin(), clients_.end(),
                                    [&](const Client& one) { return one.name == client; });
  if (waiting != clients_.end())
    waiting->served_ms += more_ms;
  else if (const auto known = ahead_.find(client); known != ahead_.end())
    known->second += more_ms;
  else if (!clients_.empty() && more_ms > 0)
    ahead_[client] = now_ms_ + more_ms;
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
