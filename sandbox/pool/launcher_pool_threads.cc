// The part of LauncherPool that its threads run: they start launchers, and end those that are no
// longer needed.
#include <algorithm>
#include <cstdint>
#include <utility>

#include "base/clock.h"
#include "sandbox/pool/launcher_pool.h"

namespace assay::sandbox {
namespace {

constexpr std::int64_t kLauncherStartMs = 30'000;
constexpr std::int64_t kLauncherRetryPauseMs = 2'000;

}  // namespace

bool LauncherPool::wants_more() const {
  const int coming = static_cast<int>(parked_.size()) + starting_;
  if (coming < waiting_) return starting_ < std::max(config_.launcher_starts, 1);
  if (starting_ > 0) return false;
  const std::int64_t now_ns = system_clock().monotonic_ns();
  return coming < std::max(config_.parked_launchers, 1) ||
         (wants_spare(now_ns) && now_ns >= demand_.used_ns() + config_.spare_quiet_ms * kNsPerMs);
}

/// Returns true if another launcher should start as soon as the jobs use none for a while.
bool LauncherPool::wants_spare(std::int64_t now_ns) const {
  return starting_ == 0 && parked_.size() < wanted_parked(now_ns);
}

/// A launcher ends when none starts, because the driver would make both wait for each other. After
/// a start that failed, it ends before the next start, which may need its memory.
bool LauncherPool::may_end() const {
  if (retired_.empty()) return false;
  return urgent_ > 0 || failure_ || retired_.size() > kMostRetired ||
         (starting_ == 0 && ending_ == 0);
}

/// Returns the time at which a launcher has been unused for too long, or another one may start.
std::optional<std::int64_t> LauncherPool::next_expiry_ns() const {
  std::optional<std::int64_t> next_ns;
  const auto add = [&](std::int64_t since_ns, std::int64_t ms) {
    next_ns = std::min(next_ns.value_or(since_ns + ms * kNsPerMs), since_ns + ms * kNsPerMs);
  };
  if (!of_runs_.empty()) add(of_runs_.front().since_ns, config_.kept_launcher_ms);
  if (wants_spare(system_clock().monotonic_ns()))
    add(demand_.used_ns(), config_.spare_quiet_ms);
  else if (parked_.size() > static_cast<std::size_t>(std::max(config_.parked_launchers, 1)) &&
           !demand_.empty())
    add(demand_.oldest_ns(), config_.spare_launcher_ms);
  return next_ns;
}

void LauncherPool::run() {
  while (std::optional<Work> work = next_work())
    std::visit([this](auto& one) { perform(std::move(one)); }, *work);
}

std::optional<LauncherPool::Work> LauncherPool::next_work() {
  const std::stop_token stop = shutdown_.get_token();
  MutexLock lock(mutex_);
  const auto has_work = [&]() ASSAY_REQUIRES(mutex_) {
    return failure_ || wants_more() || may_end();
  };
  while (!stop.stop_requested()) {
    if (failure_ && retired_.empty()) {
      // A copy, because other threads replace the failure.
      const std::int64_t retry_ns = failure_->retry_ns;
      system_clock().wait_until(changed_, lock, stop, retry_ns, [&]() ASSAY_REQUIRES(mutex_) {
        return !failure_ || !retired_.empty();
      });
      if (failure_ && system_clock().monotonic_ns() >= failure_->retry_ns) {
        failure_.reset();
        changed_.notify_all();
      }
    } else if (!failure_ && wants_more()) {
      ++starting_;
      return Start{attempts_++, faults_};
    } else if (may_end()) {
      ++ending_;
      End end;
      end.launchers.push_back(std::move(retired_.front()));
      retired_.pop_front();
      return end;
    } else if (const std::optional<std::int64_t> expiry_ns = next_expiry_ns()) {
      system_clock().wait_until(changed_, lock, stop, *expiry_ns, [&]() ASSAY_REQUIRES(mutex_) {
        return has_work() || next_expiry_ns() != expiry_ns;
      });
      end_expired();
      retire_spares();
    } else {
      changed_.wait(lock, stop,
                    [&]() ASSAY_REQUIRES(mutex_) { return has_work() || next_expiry_ns(); });
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
    // before that fault. So it checks the device again before it is handed out.
    (*started)->set_faults_before(start.faults_before);
    parked_.push_back(std::move(*started));
    retire_spares();  // it may be one too many, if the demand ended while it started
    if (start.faults_before == faults_) last_start_error_.reset();
  } else {
    failure_ = Failure{started.error(), start.attempt,
                       system_clock().monotonic_ns() + kLauncherRetryPauseMs * kNsPerMs};
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
