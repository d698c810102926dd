#include "server/workers/fleet.h"

#include <algorithm>
#include <atomic>

#include "base/log.h"
#include "server/workers/fleet_seat.h"
#include "server/workers/placement.h"
#include "server/workers/recording_relay.h"

namespace assay::server {
namespace {

using sandbox::Deadline;
using sandbox::Verdict;

constexpr std::int64_t kSendMs = 30'000;    // the time that a worker has to read a job
constexpr std::int64_t kCancelMs = 10'000;  // the time that a worker has to end a cancelled job
/// After so many failed starts in a row, waiting jobs fail instead of waiting for more starts.
constexpr std::int64_t kPatience = 3;

/// Returns a number that no other execution of this process has. Executions of one job can overlap:
/// a job may begin again while a worker that records still ends an order of its last execution.
/// Pools that launch can share a pool that records, so the number does not belong to one pool.
std::int64_t next_execution() {
  static std::atomic<std::int64_t> last{0};
  return ++last;
}

}  // namespace

const std::string& Fleet::Lease::worker() const { return seat_->name; }

const sandbox::DeviceInfo& Fleet::Lease::device() const { return seat_->device; }

Fleet::Fleet(PoolSettings settings, WorkerRevision revision, std::string logs, Fleet* records)
    : settings_(std::move(settings)),
      revision_(std::move(revision)),
      logs_(std::move(logs)),
      records_(records) {
  sums_.pool = settings_.name;
  sums_.role = settings_.role;
  sums_.records = settings_.records;
  keeper_thread_ = std::jthread([this] { keep(); });
}

Fleet::~Fleet() {
  stop_.request_stop();
  keeper_thread_.join();
  std::vector<std::shared_ptr<Seat>> seats;
  {
    const MutexLock lock(mutex_);
    seats = seats_;
  }
  for (const auto& seat : seats) seat->stream->end_input();
  for (const auto& seat : seats) seat->reader.join();
}

std::int64_t Fleet::needed() const {
  std::int64_t jobs = waiting_.slots(settings_.jobs_per_worker);
  for (const auto& seat : seats_) {
    if (seat->state != Seat::State::draining && seat->state != Seat::State::ended)
      jobs += seat->taken;
  }
  return workers_needed({settings_.jobs_per_worker, settings_.least, settings_.most}, jobs);
}

/// Returns the worker that this waiting job gets now, or null.
std::shared_ptr<Fleet::Seat> Fleet::pick(std::int64_t ticket, const std::string& run) {
  if (!waiting_.may_be_next(ticket)) return nullptr;
  const std::optional<std::int64_t> home = homes_.of(run);
  const std::int64_t now_ns = system_clock().monotonic_ns();
  std::vector<WorkerLoad> loads;
  for (const auto& seat : seats_) {
    const bool due = settings_.health_check_s > 0 && seat->health_due_ns <= now_ns;
    loads.push_back({.number = seat->number,
                     .taken = seat->taken,
                     .capacity = seat->capacity,
                     .takes_jobs = seat->state == Seat::State::ready && !due,
                     .is_doubted = seat->doubted_until_ns > now_ns,
                     .is_home = seat->number == home});
  }
  avoid_doubted(loads);
  const std::optional<std::size_t> found = waiting_.worker_for(ticket, std::move(loads), needed());
  return found ? seats_[*found] : nullptr;
}

bool Fleet::none_can_come() const {
  return failures_in_row_ >= kPatience &&
         std::none_of(seats_.begin(), seats_.end(), [](const auto& seat) {
           return seat->state == Seat::State::starting || seat->state == Seat::State::ready;
         });
}

Result<Fleet::Lease> Fleet::take(const std::stop_token& stop, const Wish& wish) {
  MutexLock lock(mutex_);
  const std::int64_t ticket = waiting_.add({.alone = wish.alone, .batch = wish.batch});
  const std::int64_t failures_before = sums_.failed_starts;
  std::shared_ptr<Seat> seat;
  bool waits = false;
  const bool ended_well = changed_.wait(lock, stop, [&]() ASSAY_REQUIRES(mutex_) {
    seat = pick(ticket, wish.run);
    // Only a job that has to wait may need another worker.
    if (seat == nullptr && !std::exchange(waits, true)) wake_keeper();
    return seat != nullptr || (none_can_come() && sums_.failed_starts > failures_before);
  });
  waiting_.remove(ticket);
  if (!waiting_.empty()) changed_.notify_all();  // another job is the next one now
  if (seat != nullptr) {
    const std::int64_t slots = wish.alone ? seat->capacity : 1;
    seat->taken += slots;
    homes_.set(wish.run, seat->number);
    return Lease(*this, std::move(seat), slots);
  }
  if (!ended_well) return fail(ErrorCode::cancelled, "cancelled");
  return fail(ErrorCode::unavailable,
              "pool " + settings_.name + " has no worker: " + sums_.problem);
}

Result<Fleet::Lease> Fleet::take_due(const std::stop_token& stop) {
  MutexLock lock(mutex_);
  std::shared_ptr<Seat> due;
  // The time alone makes a health check due, so the wait looks again every second.
  while (due == nullptr && !stop.stop_requested()) {
    emptied_.wait_for(lock, stop, std::chrono::seconds(1), [&]() ASSAY_REQUIRES(mutex_) {
      const std::int64_t now_ns = system_clock().monotonic_ns();
      const auto found = std::find_if(seats_.begin(), seats_.end(), [&](const auto& seat) {
        return seat->state == Seat::State::ready && seat->taken == 0 &&
               seat->health_due_ns <= now_ns;
      });
      if (found != seats_.end()) due = *found;
      return due != nullptr;
    });
  }
  if (due == nullptr) return fail(ErrorCode::cancelled, "cancelled");
  due->taken = due->capacity;
  const std::int64_t slots = due->capacity;
  return Lease(*this, std::move(due), slots);
}

void Fleet::give_back(const Lease& lease) {
  const MutexLock lock(mutex_);
  lease.seat_->taken -= lease.slots_;
  lease.seat_->idle_since_ns = system_clock().monotonic_ns();
  // A thread that wakes for nothing takes time from the others, so each change wakes only the
  // threads that it concerns.
  if (!waiting_.empty()) changed_.notify_all();
  const bool due = lease.seat_->health_due_ns <= lease.seat_->idle_since_ns;
  if (due && lease.seat_->taken == 0) emptied_.notify_all();
  if (lease.seat_->state == Seat::State::draining) wake_keeper();
}

void Fleet::accept(const Lease& lease) {
  const MutexLock lock(mutex_);
  failures_in_row_ = 0;
  if (!lease.seat_->proven) sums_.problem.clear();  // the worker gets jobs from now on
  lease.seat_->proven = true;
  lease.seat_->health_due_ns =
      system_clock().monotonic_ns() + settings_.health_check_s * 1'000 * kNsPerMs;
}

void Fleet::doubt(const Lease& lease) {
  const MutexLock lock(mutex_);
  const std::int64_t now_ns = system_clock().monotonic_ns();
  lease.seat_->health_due_ns = now_ns;
  // With health checks, the next one decides.
  if (settings_.health_check_s == 0)
    lease.seat_->doubted_until_ns = now_ns + settings_.quarantine_s * 1'000 * kNsPerMs;
}

void Fleet::quarantine(const Lease& lease, const std::string& reason) {
  log::error("a worker is in quarantine", {{"worker", lease.worker()}, {"reason", reason}});
  {
    const MutexLock lock(mutex_);
    quarantines_[lease.seat_->host] = {
        reason, system_clock().monotonic_ns() + settings_.quarantine_s * 1'000 * kNsPerMs};
    fail_start("the machine " + lease.seat_->host + " is in quarantine: " + reason);
    lease.seat_->state = Seat::State::draining;
    lease.seat_->asked_to_drain = true;
  }
  drain(*lease.seat_);
}

void Fleet::drain(Seat& seat) {
  if (!seat.stream->send({{{"type", kDrainType}}}, Deadline::after_ms(kSilenceMs)))
    seat.stream->hang_up();
}

Result<Verdict> Fleet::run(const Lease& lease, const sandbox::Job& job,
                           sandbox::JobMonitor& monitor, bool alone) {
  Seat& seat = *lease.seat_;
  const JobTag tag{job.id, next_execution()};
  Call call;
  std::optional<RecordingRelay> relay;
  if (records_ != nullptr)
    relay.emplace(
        *records_, RecordingRelay::About{.job = job, .tag = tag, .alone = alone},
        [&](sandbox::Frame frame) -> Status {
          // A cancellation must not end a send, because a frame that is sent in part breaks the
          // stream.
          const Status sent = seat.stream->send({std::move(frame.header), std::move(frame.payload)},
                                                Deadline::after_ms(kSendMs));
          if (sent) return {};
          seat.stream->hang_up();
          return fail(ErrorCode::unavailable, "worker " + seat.name + ": " + sent.error().message);
        },
        [&](const Error& error) {
          const MutexLock lock(mutex_);
          call.recording_failure = error;
          call.changed.notify_all();
        });
  {
    const MutexLock lock(mutex_);
    if (!seat.lost.empty()) return fail(ErrorCode::unavailable, seat.lost);
    if (relay) call.recordings = &relay->inbox();
    seat.calls[tag] = &call;
  }
  Result<Verdict> verdict = send_and_follow(
      seat, relay ? launch_message(job, tag.attempt) : job_message(job, tag.attempt), tag, call,
      monitor);
  {
    const MutexLock lock(mutex_);
    seat.calls.erase(tag);
  }
  if (relay) {
    relay->stop();
    if (verdict) verdict->provenance.recorder = relay->recorder();
  }
  return verdict;
}

Result<Verdict> Fleet::send_and_follow(Seat& seat, const Message& message, const JobTag& tag,
                                       Call& call, sandbox::JobMonitor& monitor) {
  const Status sent = seat.stream->send(message, Deadline::after_ms(kSendMs, monitor.stop));
  if (sent) return follow(seat, tag, call, monitor);
  // A part of the job may be sent, so the stream is of no use any more.
  seat.stream->hang_up();
  if (sent.error().code == ErrorCode::cancelled) return fail(sent.error());
  return fail(ErrorCode::unavailable, "worker " + seat.name + ": " + sent.error().message);
}

Result<Verdict> Fleet::follow(Seat& seat, const JobTag& tag, Call& call,
                              sandbox::JobMonitor& monitor) {
  std::optional<Deadline> cancelled;
  MutexLock lock(mutex_);
  while (true) {
    const auto ready = [&]() ASSAY_REQUIRES(mutex_) {
      return call.verdict || call.lost || call.recording_failure || call.cases ||
             !call.stages.empty();
    };
    const bool in_time = cancelled ? cancelled->wait(call.changed, lock, ready)
                                   : call.changed.wait(lock, monitor.stop, ready);
    if (call.lost) return fail(ErrorCode::unavailable, *call.lost);
    if (const std::optional<Error> failure = call.recording_failure) {
      lock.unlock();
      if (!seat.stream->send({tagged(kCancelType, tag)}, Deadline::after_ms(kCancelMs)))
        seat.stream->hang_up();
      return fail(*failure);
    }
    const std::deque<sandbox::Stage> stages = std::exchange(call.stages, {});
    const std::optional<CasesDone> cases = std::exchange(call.cases, std::nullopt);
    std::optional<Verdict> verdict = std::exchange(call.verdict, std::nullopt);
    if (verdict) verdict->artifacts = std::move(call.artifacts);
    lock.unlock();
    for (const sandbox::Stage stage : stages) {
      if (monitor.stage_changed) monitor.stage_changed(stage);
    }
    if (cases && monitor.case_done) monitor.case_done(cases->done, cases->total);
    if (verdict) {
      verdict->provenance.worker = seat.name;
      return std::move(*verdict);
    }
    if (!in_time && cancelled) {
      seat.stream->hang_up();  // the worker does not end the job
      return fail(ErrorCode::cancelled, "cancelled");
    }
    if (!in_time) {
      cancelled = Deadline::after_ms(kCancelMs);
      if (!seat.stream->send({tagged(kCancelType, tag)}, *cancelled)) seat.stream->hang_up();
    }
    lock.lock();
  }
}

bool Fleet::was_preempted(const Lease& lease) const {
  const MutexLock lock(mutex_);
  return lease.seat_->preempted;
}

sandbox::EngineNote Fleet::engine() const {
  using sandbox::EngineState;
  const FleetReport now = counts();
  if (now.idle + now.busy > 0) return {};
  const EngineState state =
      now.starting > 0 || now.problem.empty() ? EngineState::pending : EngineState::failed;
  return {.state = state, .said = std::string(sandbox::sentence_of(state))};
}

FleetReport Fleet::report() const {
  std::shared_ptr<Seat> starting;
  FleetReport report = counts(&starting);
  // The words are in a file, which is read without the lock.
  if (starting) report.engine = starting->stream->words();
  return report;
}

FleetReport Fleet::counts() const { return counts(nullptr); }

/// Returns the counts. If a worker starts, sets `starting` to it, unless `starting` is null.
FleetReport Fleet::counts(std::shared_ptr<Seat>* starting) const {
  const MutexLock lock(mutex_);
  FleetReport report = sums_;
  if (class_) report.hardware = class_->hardware;
  const std::int64_t now_ns = system_clock().monotonic_ns();
  for (const auto& seat : seats_) {
    report.starting += seat->state == Seat::State::starting;
    report.draining += seat->state == Seat::State::draining;
    if (seat->state == Seat::State::starting && starting != nullptr) *starting = seat;
    if (seat->state != Seat::State::ready) continue;
    if (!seat->missing_layers.empty()) ++report.missing_layers[seat->missing_layers];
    ++(seat->taken > 0 ? report.busy : report.idle);
  }
  report.quarantined = std::count_if(quarantines_.begin(), quarantines_.end(),
                                     [&](const auto& one) { return one.second.until_ns > now_ns; });
  report.waiting = waiting_.size();
  return report;
}

}  // namespace assay::server
