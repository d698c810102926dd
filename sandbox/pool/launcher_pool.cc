#include "sandbox/pool/launcher_pool.h"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <utility>

#include "base/log.h"

namespace assay::sandbox {
namespace {

// While all other threads start launchers, one thread ends those that must end at once, and one is
// free for the next start. More would not help: an H200 creates and ends 10 contexts a second one
// after the other, and 14 with six processes (docs/measurements/server.md).
constexpr int kEndingThreads = 2;
// So many unused launchers wait for each one that was used lately.
constexpr std::size_t kSparesForEach = 2;

}  // namespace

LauncherPool::LauncherPool(const SandboxConfig& config, Spawner& spawner, int device,
                           std::string driver)
    : config_(config), spawner_(spawner), device_index_(device), driver_(std::move(driver)) {
  const int threads = std::max(config_.launcher_starts, 1) + kEndingThreads;
  for (int i = 0; i < threads; ++i) threads_.emplace_back([this] { run(); });
}

LauncherPool::~LauncherPool() {
  shutdown_.request_stop();
  for (std::thread& thread : threads_) thread.join();
  // All are killed before the first one is waited for, because each needs time to end its context.
  const MutexLock lock(mutex_);
  for (const auto* some : {&parked_, &retired_}) {
    for (const std::unique_ptr<LauncherClient>& launcher : *some) launcher->kill();
  }
  for (const KeptForRun& kept : of_runs_) kept.launcher->kill();
  if (kept_) kept_->kill();
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

Result<std::unique_ptr<LauncherClient>> LauncherPool::take_unchecked(const Deadline& deadline) {
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
  demand_.take(system_clock().monotonic_ns());
  changed_.notify_all();  // the pool may start another one
  return taken;
}

Result<std::unique_ptr<LauncherClient>> LauncherPool::take(const Deadline& deadline) {
  while (true) {
    Result<std::unique_ptr<LauncherClient>> taken = take_unchecked(deadline);
    if (!taken || is_trusted(*taken)) return taken;
  }
}

int LauncherPool::faults() const {
  const MutexLock lock(mutex_);
  return faults_;
}

/// Ends all idle launchers that have not checked the device since the last fault.
void LauncherPool::discard_unchecked() {
  const MutexLock lock(mutex_);
  const auto end = [&](std::unique_ptr<LauncherClient>& one) ASSAY_REQUIRES(mutex_) {
    if (!one || one->faults_before() == faults_) return;
    one->kill();
    retired_.push_back(std::move(one));
  };
  for (std::unique_ptr<LauncherClient>& one : parked_) end(one);
  std::erase(parked_, nullptr);
  for (KeptForRun& one : of_runs_) end(one.launcher);
  std::erase_if(of_runs_, [](const KeptForRun& one) { return !one.launcher; });
  end(kept_);
  changed_.notify_all();
}

bool LauncherPool::is_trusted(std::unique_ptr<LauncherClient>& taken) {
  // A fault that occurs during the check makes another check necessary.
  for (int now = faults(); taken->faults_before() != now; now = faults()) {
    if (Status checked = taken->check(Deadline::after_ms(kCheckMs, shutdown_.get_token()));
        !checked) {
      log::warning("idle launchers are replaced, because one failed its check after a fault",
                   {{"device", driver_ + ":" + std::to_string(device_index_)},
                    {"error", checked.error().message}});
      discard(std::move(taken));
      discard_unchecked();
      return false;
    }
    taken->set_faults_before(now);
  }
  return true;
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
  std::unique_ptr<LauncherClient> kept;
  {
    const MutexLock lock(mutex_);
    demand_.use(system_clock().monotonic_ns());
    if (kept_ && kept_->alive()) kept = std::move(kept_);
    if (kept_) retired_.push_back(std::move(kept_));
  }
  if (kept && is_trusted(kept)) return kept;
  return take(deadline);
}

void LauncherPool::keep(const std::string& operator_dir, std::unique_ptr<LauncherClient> used) {
  if (const std::string suite = imported_suite_of(operator_dir); !suite.empty()) {
    keep_for_run(suite, std::move(used));
    return;
  }
  {
    const MutexLock lock(mutex_);
    demand_.use(system_clock().monotonic_ns());
    if (!kept_ && used->launches() < kMostKeptLaunches) {
      kept_ = std::move(used);
      changed_.notify_all();
      return;
    }
  }
  retire(std::move(used));
}

Result<std::unique_ptr<LauncherClient>> LauncherPool::take_for_run(const std::string& run,
                                                                   const Deadline& deadline) {
  std::unique_ptr<LauncherClient> kept;
  {
    const MutexLock lock(mutex_);
    demand_.use(system_clock().monotonic_ns());
    const auto found = std::find_if(of_runs_.rbegin(), of_runs_.rend(), [&](const KeptForRun& one) {
      return one.run == run && one.launcher->alive();
    });
    if (found != of_runs_.rend()) {
      kept = std::move(found->launcher);
      of_runs_.erase(std::next(found).base());
    }
  }
  if (kept && is_trusted(kept)) return kept;
  return take(deadline);
}

void LauncherPool::keep_for_run(const std::string& run, std::unique_ptr<LauncherClient> used) {
  {
    const MutexLock lock(mutex_);
    demand_.use(system_clock().monotonic_ns());
    if (used->launches() < kMostKeptLaunches) {
      of_runs_.push_back({run, std::move(used), system_clock().monotonic_ns()});
      while (of_runs_.size() > most_kept_for_runs())
        retire_kept_for_run(random_() % of_runs_.size());
      changed_.notify_all();
      return;
    }
  }
  retire(std::move(used));
}

Status LauncherPool::end_those_of_runs(const Deadline& deadline) {
  MutexLock lock(mutex_);
  kept_contexts_.note_shortage(system_clock().monotonic_ns());
  retire_oldest_kept_for_runs(0);
  demand_.clear();
  retire_spares();
  for (const std::unique_ptr<LauncherClient>& launcher : retired_) launcher->kill();
  ++urgent_;
  changed_.notify_all();
  Status ended = wait_until(
      lock, deadline, [&]() ASSAY_REQUIRES(mutex_) { return ending_ == 0 && retired_.empty(); });
  --urgent_;
  return ended;
}

std::size_t LauncherPool::most_kept_for_runs() const {
  const std::int64_t bytes = ready_ ? ready_->device.memory_bytes : 0;
  const int fitting = kept_contexts_.most(bytes, system_clock().monotonic_ns());
  return static_cast<std::size_t>(std::max(config_.kept_launchers.value_or(fitting), 0));
}

std::size_t LauncherPool::wanted_parked(std::int64_t now_ns) const {
  const auto least = static_cast<std::size_t>(std::max(config_.parked_launchers, 1));
  const int most = std::max(config_.spare_launchers, 0);
  const std::size_t lately = demand_.since(now_ns - config_.spare_launcher_ms * kNsPerMs);
  return std::max(least, std::min(kSparesForEach * lately, static_cast<std::size_t>(most)));
}

/// Retires launchers if more wait for jobs than the demand of the last minutes and the waiting
/// callers need.
void LauncherPool::retire_spares() {
  const std::int64_t now_ns = system_clock().monotonic_ns();
  demand_.forget(now_ns - config_.spare_launcher_ms * kNsPerMs);
  while (parked_.size() > wanted_parked(now_ns) + static_cast<std::size_t>(waiting_)) {
    retired_.push_back(std::move(parked_.front()));
    parked_.pop_front();
  }
}

void LauncherPool::retire_kept_for_run(std::size_t position) {
  const auto ended = of_runs_.begin() + static_cast<std::ptrdiff_t>(position);
  retired_.push_back(std::move(ended->launcher));
  of_runs_.erase(ended);
}

/// Retires launchers that are kept for runs, until at most `most` are left. The launchers that were
/// used last are left.
void LauncherPool::retire_oldest_kept_for_runs(std::size_t most) {
  while (of_runs_.size() > most) retire_kept_for_run(0);
}

/// Retires the kept launchers that were unused for config.kept_launcher_ms.
void LauncherPool::end_expired() {
  const std::int64_t now_ns = system_clock().monotonic_ns();
  const auto fresh = std::find_if(of_runs_.begin(), of_runs_.end(), [&](const KeptForRun& one) {
    return now_ns - one.since_ns < config_.kept_launcher_ms * kNsPerMs;
  });
  retire_oldest_kept_for_runs(static_cast<std::size_t>(of_runs_.end() - fresh));
}

void LauncherPool::discard(std::unique_ptr<LauncherClient> used) {
  used->kill();
  retire(std::move(used));
}

void LauncherPool::retire(std::unique_ptr<LauncherClient> used) {
  const MutexLock lock(mutex_);
  demand_.use(system_clock().monotonic_ns());
  retired_.push_back(std::move(used));
  changed_.notify_all();
}

void LauncherPool::invalidate_idle() {
  const MutexLock lock(mutex_);
  ++faults_;
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

}  // namespace assay::sandbox
