#include "server/runs/device_queue.h"

#include <algorithm>
#include <utility>

namespace assay::server {
namespace {

std::string about(const std::optional<std::int64_t>& wait_ms) {
  return wait_ms ? "about " + std::to_string((*wait_ms + 999) / 1'000) + " s"
                 : std::string("some seconds");
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
                  ". The call was not charged. Try again in " +
                  about(queue_.expected_wait_ms(taken + 1)));
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
  queue_.push(job->job().run, job->job().id);
  waiting_[job->job().id] = job;
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

void DeviceQueue::ended(std::int64_t job_ms) {
  const MutexLock lock(mutex_);
  --running_;
  queue_.add_duration(job_ms);
}

DeviceQueue::Place DeviceQueue::place_of(const std::string& job) const {
  const MutexLock lock(mutex_);
  const std::size_t position = queue_.position(job);
  return {.position = static_cast<std::int64_t>(position),
          .expected_wait_ms = queue_.expected_wait_ms(position)};
}

DeviceQueue::Load DeviceQueue::load() const {
  const MutexLock lock(mutex_);
  return {.queued = static_cast<std::int64_t>(queue_.size()), .running = running_};
}

void JobQueue::push(const std::string& run, const std::string& job) {
  auto turn = std::find_if(turns_.begin(), turns_.end(),
                           [&](const Turn& known) { return known.run == run; });
  if (turn == turns_.end()) turn = turns_.insert(turns_.end(), Turn{run, {}});
  turn->jobs.push_back(job);
  ++size_;
}

std::optional<std::string> JobQueue::pop() {
  if (turns_.empty()) return std::nullopt;
  const auto turn = turns_.begin();
  std::string job = std::move(turn->jobs.front());
  turn->jobs.pop_front();
  --size_;
  if (turn->jobs.empty()) {
    turns_.erase(turn);
  } else {
    turns_.splice(turns_.end(), turns_, turn);
  }
  return job;
}

bool JobQueue::remove(const std::string& job) {
  for (auto turn = turns_.begin(); turn != turns_.end(); ++turn) {
    const auto found = std::find(turn->jobs.begin(), turn->jobs.end(), job);
    if (found == turn->jobs.end()) continue;
    turn->jobs.erase(found);
    --size_;
    if (turn->jobs.empty()) turns_.erase(turn);
    return true;
  }
  return false;
}

std::size_t JobQueue::position(const std::string& job) const {
  std::size_t round = 0;  // the number of jobs of the same run before this job
  std::size_t own = turns_.size();
  std::size_t index = 0;
  for (const Turn& turn : turns_) {
    const auto found = std::find(turn.jobs.begin(), turn.jobs.end(), job);
    if (found != turn.jobs.end()) {
      own = index;
      round = static_cast<std::size_t>(found - turn.jobs.begin());
    }
    ++index;
  }
  if (own == turns_.size()) return 0;
  std::size_t before = round;
  index = 0;
  for (const Turn& turn : turns_) {
    // If another run's turn is before the turn of the job's own run, that run is served once more.
    if (index != own) before += std::min(turn.jobs.size(), round + (index < own ? 1 : 0));
    ++index;
  }
  return before + 1;
}

void JobQueue::add_duration(std::int64_t job_ms) {
  const auto newest = static_cast<double>(job_ms);
  mean_ms_ = mean_ms_ ? *mean_ms_ + kWeight * (newest - *mean_ms_) : newest;
}

std::optional<std::int64_t> JobQueue::expected_wait_ms(std::size_t position) const {
  if (!mean_ms_) return std::nullopt;
  return static_cast<std::int64_t>(*mean_ms_ * static_cast<double>(position) / workers_);
}

}  // namespace assay::server
