#include "sandbox/pool/launcher_pool.h"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <iterator>
#include <utility>

namespace assay::sandbox {
namespace {

constexpr int kThreads = 3;  // a context takes longer to make than most recordings
constexpr std::int64_t kStartMs = 30'000;
constexpr auto kRetryPause = std::chrono::seconds(2);
constexpr auto kWaitSlice = std::chrono::milliseconds(50);
constexpr auto kIdleSlice =
    std::chrono::seconds(1);  // between looks for launchers that nobody asks for

}  // namespace

LauncherPool::LauncherPool(const SandboxConfig& config, Spawner& spawner, int device,
                           std::string driver)
    : config_(config), spawner_(spawner), device_index_(device), driver_(std::move(driver)) {
  for (int i = 0; i < kThreads; ++i) threads_.emplace_back([this] { run(); });
}

LauncherPool::~LauncherPool() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  shutdown_.request_stop();
  changed_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

std::optional<LauncherDevice> LauncherPool::device() const {
  const std::lock_guard lock(mutex_);
  return device_;
}

template <class Done>
Status LauncherPool::wait_until(std::unique_lock<std::mutex>& lock, const Deadline& deadline,
                                Done done) {
  while (!done()) {
    if (deadline.cancelled()) return fail(ErrorCode::cancelled, "cancelled");
    if (deadline.expired() || stop_)
      return fail(ErrorCode::resource_exhausted,
                  "the launchers were busy for all of the time allowed");
    changed_.wait_for(lock, kWaitSlice);
  }
  return {};
}

Result<LauncherDevice> LauncherPool::ready(const Deadline& deadline) {
  std::unique_lock lock(mutex_);
  failure_.reset();
  const int before = attempts_;
  changed_.notify_all();
  if (Status up = wait_until(lock, deadline, [&] { return device_ || failed_since(before); }); !up)
    return fail(up.error());
  if (!device_) return fail(failure_->error);
  return *device_;
}

Result<std::unique_ptr<LauncherClient>> LauncherPool::take(const Deadline& deadline) {
  std::unique_lock lock(mutex_);
  failure_.reset();
  const int before = attempts_;
  ++waiting_;
  changed_.notify_all();
  const Status parked = wait_until(lock, deadline, [&] {
    std::erase_if(parked_, [](const auto& one) { return !one->alive(); });
    return !parked_.empty() || failed_since(before);
  });
  --waiting_;
  if (!parked) return fail(parked.error());
  if (parked_.empty()) return fail(failure_->error);
  std::unique_ptr<LauncherClient> taken = std::move(parked_.front());
  parked_.pop_front();
  ++in_use_;
  return taken;
}

Result<std::unique_ptr<LauncherClient>> LauncherPool::take_for_oracle(const Deadline& deadline) {
  {
    const std::lock_guard lock(mutex_);
    if (kept_ && kept_->alive()) {
      ++in_use_;
      return std::move(kept_);
    }
    if (kept_) retired_.push_back(std::move(kept_));
  }
  return take(deadline);
}

void LauncherPool::keep(std::unique_ptr<LauncherClient> used) {
  {
    const std::lock_guard lock(mutex_);
    if (!kept_ && may_keep(*used)) {
      kept_ = std::move(used);
      --in_use_;
    }
  }
  if (used)
    discard(std::move(used));
  else
    changed_.notify_all();
}

Result<std::unique_ptr<LauncherClient>> LauncherPool::take_for_run(const std::string& run,
                                                                   const Deadline& deadline) {
  {
    const std::lock_guard lock(mutex_);
    const auto found = std::find_if(of_runs_.rbegin(), of_runs_.rend(), [&](const OfRun& one) {
      return one.run == run && one.launcher->alive();
    });
    if (found != of_runs_.rend()) {
      std::unique_ptr<LauncherClient> taken = std::move(found->launcher);
      of_runs_.erase(std::next(found).base());
      ++in_use_;
      return taken;
    }
  }
  return take(deadline);
}

void LauncherPool::keep_for_run(const std::string& run, std::unique_ptr<LauncherClient> used) {
  {
    const std::lock_guard lock(mutex_);
    if (may_keep(*used)) {
      of_runs_.push_back({run, std::move(used), std::chrono::steady_clock::now()});
      --in_use_;
      end_kept_for_runs(static_cast<std::size_t>(std::max(config_.kept_launchers, 0)));
    }
  }
  if (used)
    discard(std::move(used));
  else
    changed_.notify_all();
}

Status LauncherPool::end_those_of_runs(const Deadline& deadline) {
  std::unique_lock lock(mutex_);
  end_kept_for_runs(0);
  changed_.notify_all();
  return wait_until(lock, deadline, [&] { return ending_ == 0 && retired_.empty(); });
}

bool LauncherPool::may_keep(const LauncherClient& used) const {
  return used.launches() < kMostKeptLaunches && used.faults_before() == faults_;
}

/// All but the `most` that were used last.
void LauncherPool::end_kept_for_runs(std::size_t most) {
  while (of_runs_.size() > most) {
    of_runs_.front().launcher->kill();
    retired_.push_back(std::move(of_runs_.front().launcher));
    of_runs_.pop_front();
  }
}

void LauncherPool::end_forgotten() {
  const auto now = std::chrono::steady_clock::now();
  const auto remembered = std::find_if(of_runs_.begin(), of_runs_.end(), [&](const OfRun& one) {
    return now - one.since < std::chrono::milliseconds(config_.kept_launcher_ms);
  });
  end_kept_for_runs(static_cast<std::size_t>(of_runs_.end() - remembered));
}

void LauncherPool::discard(std::unique_ptr<LauncherClient> used) {
  used->kill();
  {
    const std::lock_guard lock(mutex_);
    retired_.push_back(std::move(used));
    --in_use_;
  }
  changed_.notify_all();
}

void LauncherPool::invalidate_idle() {
  {
    const std::lock_guard lock(mutex_);
    ++faults_;
    if (kept_) parked_.push_back(std::move(kept_));
    for (std::unique_ptr<LauncherClient>& one : parked_) {
      one->kill();
      retired_.push_back(std::move(one));
    }
    parked_.clear();
    end_kept_for_runs(0);
  }
  changed_.notify_all();
}

std::optional<std::string> LauncherPool::last_start_error() const {
  const std::lock_guard lock(mutex_);
  return sickness_;
}

/// Whether a start has failed that began when `before` others had begun; one that was on its way
/// already says nothing of the device as it is now.
bool LauncherPool::failed_since(int before) const {
  return failure_ && failure_->attempt >= before;
}

bool LauncherPool::wants_more() const {
  const int coming = static_cast<int>(parked_.size()) + starting_;
  if (coming < waiting_) return true;
  return starting_ == 0 && coming < std::max(config_.parked_launchers, 1);
}

void LauncherPool::start_one(std::unique_lock<std::mutex>& lock) {
  const int faults = faults_, attempt = attempts_++;
  lock.unlock();
  Result<std::unique_ptr<LauncherClient>> started =
      LauncherClient::start(config_, spawner_, device_index_, driver_,
                            Deadline::after_ms(kStartMs, shutdown_.get_token()));
  lock.lock();
  if (started) {
    device_ = (*started)->device();
    const bool trusted = faults == faults_;  // else it may have looked before the fault
    (*started)->set_faults_before(faults);
    (trusted ? parked_ : retired_).push_back(std::move(*started));
    if (trusted) sickness_.reset();
  } else {
    failure_ = Failure{started.error(), attempt};
    sickness_ = started.error().message;
  }
}

void LauncherPool::run() {
  std::unique_lock lock(mutex_);
  while (!stop_) {
    if (failure_) {
      changed_.wait_for(lock, kRetryPause, [&] { return stop_ || !failure_; });
      failure_.reset();
    } else if (wants_more()) {
      ++starting_;
      start_one(lock);
      --starting_;
    } else if (!retired_.empty()) {
      ++ending_;
      std::deque<std::unique_ptr<LauncherClient>> over = std::exchange(retired_, {});
      lock.unlock();
      over.clear();  // waits for their end
      lock.lock();
      --ending_;
    } else if (!of_runs_.empty()) {
      changed_.wait_for(lock, kIdleSlice);
      end_forgotten();
      continue;
    } else {
      changed_.wait(lock);
      continue;
    }
    changed_.notify_all();
  }
}

}  // namespace assay::sandbox
