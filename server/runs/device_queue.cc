#include "server/runs/device_queue.h"

#include <algorithm>
#include <utility>

namespace assay::server {
namespace {

std::string about(const std::optional<std::int64_t>& wait_ms) {
  return wait_ms ? "about " + std::to_string((*wait_ms + 999) / 1'000) + " s"
                 : std::string("some seconds");
}

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
                  " jobs wait, yours would be at position " + std::to_string(taken + 1) +
                  "; try again in " + about(queue_.expected_wait_ms(taken + 1)) +
                  ", nothing was charged");
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

}  // namespace assay::server
