#include "sandbox/pool/launcher_pool.h"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <iterator>
#include <utility>

namespace assay::sandbox {
namespace {

// The number of threads that start and end launchers. When jobs wait, a thread starts a launcher
// for each of them. An H200 creates and ends 10 contexts a second one after the other, and 14 with
// six processes (docs/measurements/server.md).
constexpr int kThreads = 8;
constexpr std::int64_t kLauncherStartMs = 30'000;
constexpr auto kLauncherRetryPause = std::chrono::seconds(2);

}  // namespace

LauncherPool::LauncherPool(const SandboxConfig& config, Spawner& spawner, int device,
                           std::string driver)
    : config_(config), spawner_(spawner), device_index_(device), driver_(std::move(driver)) {
  for (int i = 0; i < kThreads; ++i) threads_.emplace_back([this] { run(); });
}

LauncherPool::~LauncherPool() {
  shutdown_.request_stop();
  for (std::thread& thread : threads_) thread.join();
}

std::int64_t LauncherPool::parked() const {
  const MutexLock lock(mutex_);
  return static_cast<std::int64_t>(parked_.size());
}

std::optional<DeviceFacts> LauncherPool::device() const {
  const MutexLock lock(mutex_);
  if (!ready_) return std::nullopt;
  return ready_->device;
}

template <class Done>
Status LauncherPool::wait_until(MutexLock& lock, const Deadline& deadline, Done done) {
  if (deadline.wait(changed_, lock, done)) return {};
  if (deadline.cancelled()) return fail(ErrorCode::cancelled, "cancelled");
  return fail(ErrorCode::resource_exhausted, "the launchers were busy for all of the time allowed");
}

Result<LauncherReady> LauncherPool::ready(const Deadline& deadline) {
  MutexLock lock(mutex_);
  if (ready_) return *ready_;
  failure_.reset();
  const int before = attempts_;
  changed_.notify_all();
  const auto known = [&]() ASSAY_REQUIRES(mutex_) { return ready_ || failed_since(before); };
  if (Status up = wait_until(lock, deadline, known); !up) return fail(up.error());
  if (!ready_) return fail(failure_->error);
  return *ready_;
}

Result<std::unique_ptr<LauncherClient>> LauncherPool::take(const Deadline& deadline) {
  MutexLock lock(mutex_);
  failure_.reset();
  const int before = attempts_;
  ++waiting_;
  changed_.notify_all();
  const Status parked = wait_until(lock, deadline, [&]() ASSAY_REQUIRES(mutex_) {
    const auto dead = std::erase_if(parked_, [](const auto& one) { return !one->alive(); });
    if (dead > 0) changed_.notify_all();  // the pool starts a new launcher
    return !parked_.empty() || failed_since(before);
  });
  --waiting_;
  if (!parked) return fail(parked.error());
  if (parked_.empty()) return fail(failure_->error);
  std::unique_ptr<LauncherClient> taken = std::move(parked_.front());
  parked_.pop_front();
  return taken;
}

std::string LauncherPool::imported_suite_of(const std::string& operator_dir) const {
  const auto found =
      std::find_if(config_.imported_suites.begin(), config_.imported_suites.end(),
                   [&](const std::string& suite) { return is_in_suite(operator_dir, suite); });
  return found == config_.imported_suites.end() ? "" : *found;
}

Result<std::unique_ptr<LauncherClient>> LauncherPool::take_for_oracle(
    const std::string& operator_dir, const Deadline& deadline) {
  if (const std::string suite = imported_suite_of(operator_dir); !suite.empty())
    return take_for_run(suite, deadline);
  {
    const MutexLock lock(mutex_);
    if (kept_ && kept_->alive()) return std::move(kept_);
    if (kept_) retired_.push_back(std::move(kept_));
  }
  return take(deadline);
}

void LauncherPool::keep(const std::string& operator_dir, std::unique_ptr<LauncherClient> used) {
  if (const std::string suite = imported_suite_of(operator_dir); !suite.empty()) {
    keep_for_run(suite, std::move(used));
    return;
  }
  {
    const MutexLock lock(mutex_);
    if (!kept_ && may_keep(*used)) {
      kept_ = std::move(used);
      changed_.notify_all();
      return;
    }
  }
  discard(std::move(used));
}

Result<std::unique_ptr<LauncherClient>> LauncherPool::take_for_run(const std::string& run,
                                                                   const Deadline& deadline) {
  {
    const MutexLock lock(mutex_);
    const auto found = std::find_if(of_runs_.rbegin(), of_runs_.rend(), [&](const KeptForRun& one) {
      return one.run == run && one.launcher->alive();
    });
    if (found != of_runs_.rend()) {
      std::unique_ptr<LauncherClient> taken = std::move(found->launcher);
      of_runs_.erase(std::next(found).base());
      return taken;
    }
  }
  return take(deadline);
}

void LauncherPool::keep_for_run(const std::string& run, std::unique_ptr<LauncherClient> used) {
  {
    const MutexLock lock(mutex_);
    if (may_keep(*used)) {
      of_runs_.push_back({run, std::move(used), system_clock().monotonic_ns()});
      while (of_runs_.size() > most_kept_for_runs()) end_kept_for_run(random_() % of_runs_.size());
      changed_.notify_all();
      return;
    }
  }
  discard(std::move(used));
}

Status LauncherPool::end_those_of_runs(const Deadline& deadline) {
  MutexLock lock(mutex_);
  end_oldest_kept_for_runs(0);
  changed_.notify_all();
  return wait_until(lock, deadline,
                    [&]() ASSAY_REQUIRES(mutex_) { return ending_ == 0 && retired_.empty(); });
}

bool LauncherPool::may_keep(const LauncherClient& used) const {
  return used.launches() < kMostKeptLaunches && used.faults_before() == faults_;
}

std::size_t LauncherPool::most_kept_for_runs() const {
  const double bytes = ready_ ? static_cast<double>(ready_->device.memory_bytes) : 0;
  const int fitting = static_cast<int>(bytes * kKeptPart / static_cast<double>(kContextBytes));
  return static_cast<std::size_t>(
      std::max(config_.kept_launchers.value_or(std::max(fitting, kFewestKept)), 0));
}

void LauncherPool::end_kept_for_run(std::size_t position) {
  const auto ended = of_runs_.begin() + static_cast<std::ptrdiff_t>(position);
  ended->launcher->kill();
  retired_.push_back(std::move(ended->launcher));
  of_runs_.erase(ended);
}

/// Ends launchers that are kept for runs, until at most `most` are left. The launchers that were
/// used last are left.
void LauncherPool::end_oldest_kept_for_runs(std::size_t most) {
  while (of_runs_.size() > most) end_kept_for_run(0);
}

/// Ends the kept launchers that were unused for config.kept_launcher_ms.
void LauncherPool::end_expired() {
  const std::int64_t now_ns = system_clock().monotonic_ns();
  const auto fresh = std::find_if(of_runs_.begin(), of_runs_.end(), [&](const KeptForRun& one) {
    return now_ns - one.since_ns < config_.kept_launcher_ms * kNsPerMs;
  });
  end_oldest_kept_for_runs(static_cast<std::size_t>(of_runs_.end() - fresh));
}

void LauncherPool::discard(std::unique_ptr<LauncherClient> used) {
  used->kill();
  const MutexLock lock(mutex_);
  retired_.push_back(std::move(used));
  changed_.notify_all();
}

void LauncherPool::invalidate_idle() {
  const MutexLock lock(mutex_);
  ++faults_;
  if (kept_) parked_.push_back(std::move(kept_));
  for (std::unique_ptr<LauncherClient>& one : parked_) {
    one->kill();
    retired_.push_back(std::move(one));
  }
  parked_.clear();
  end_oldest_kept_for_runs(0);
  changed_.notify_all();
}

std::optional<std::string> LauncherPool::last_start_error() const {
  const MutexLock lock(mutex_);
  return last_start_error_;
}

/// Returns true if a start has failed that is not among the first `before` starts. A failure of
/// those earlier starts says nothing about the present state of the device.
bool LauncherPool::failed_since(int before) const {
  return failure_ && failure_->attempt >= before;
}

bool LauncherPool::wants_more() const {
  const int coming = static_cast<int>(parked_.size()) + starting_;
  if (coming < waiting_) return true;
  return starting_ == 0 && coming < std::max(config_.parked_launchers, 1);
}

void LauncherPool::run() {
  while (std::optional<Work> work = next_work())
    std::visit([this](auto& one) { perform(std::move(one)); }, *work);
}

std::optional<LauncherPool::Work> LauncherPool::next_work() {
  const std::stop_token stop = shutdown_.get_token();
  MutexLock lock(mutex_);
  const auto has_work = [&]() ASSAY_REQUIRES(mutex_) {
    return failure_ || wants_more() || !retired_.empty();
  };
  while (!stop.stop_requested()) {
    if (failure_) {
      changed_.wait_for(lock, stop, kLauncherRetryPause,
                        [&]() ASSAY_REQUIRES(mutex_) { return !failure_; });
      failure_.reset();
      changed_.notify_all();
    } else if (wants_more()) {
      ++starting_;
      return Start{attempts_++, faults_};
    } else if (!retired_.empty()) {
      ++ending_;
      return End{std::exchange(retired_, {})};
    } else if (of_runs_.empty()) {
      changed_.wait(lock, stop,
                    [&]() ASSAY_REQUIRES(mutex_) { return has_work() || !of_runs_.empty(); });
    } else {
      const std::int64_t expiry_ns =
          of_runs_.front().since_ns + config_.kept_launcher_ms * kNsPerMs;
      system_clock().wait_until(changed_, lock, stop, expiry_ns, has_work);
      end_expired();
    }
  }
  return std::nullopt;
}

void LauncherPool::perform(Start start) {
  Result<std::unique_ptr<LauncherClient>> started =
      LauncherClient::start(config_, spawner_, {.device = device_index_, .driver = driver_},
                            Deadline::after_ms(kLauncherStartMs, shutdown_.get_token()));
  const MutexLock lock(mutex_);
  --starting_;
  if (started) {
    ready_ = (*started)->ready();
    // If a fault has occurred since the launcher started, the launcher may have checked the device
    // before that fault. So the launcher is ended.
    const bool trusted = start.faults_before == faults_;
    (*started)->set_faults_before(start.faults_before);
    (trusted ? parked_ : retired_).push_back(std::move(*started));
    if (trusted) last_start_error_.reset();
  } else {
    failure_ = Failure{started.error(), start.attempt};
    last_start_error_ = started.error().message;
  }
  changed_.notify_all();
}

void LauncherPool::perform(End end) {
  end.launchers.clear();  // waits until the launchers have ended
  const MutexLock lock(mutex_);
  --ending_;
  changed_.notify_all();
}

}  // namespace assay::sandbox
