// The threads of a fleet: the keeper starts and ends workers, and a reader for each worker receives
// its messages.
#include <algorithm>
#include <chrono>

#include "base/log.h"
#include "base/text.h"
#include "sandbox/job/device_class.h"
#include "sandbox/wire/header_reader.h"
#include "server/workers/fleet.h"
#include "server/workers/fleet_seat.h"
#include "server/workers/placement.h"
#include "server/workers/recording_messages.h"

namespace assay::server {
namespace {

using sandbox::Deadline;

constexpr std::chrono::seconds kLook(1);     // the keeper looks at idle workers so often
constexpr std::int64_t kGraceMs = 10'000;    // the time that a worker without jobs has to end
constexpr std::int64_t kFirstPauseMs = 500;  // after a failed start; it doubles with each failure
constexpr std::int64_t kLongestPauseMs = 30'000;
constexpr std::int64_t kMostDoublings = 10;
constexpr std::size_t kMostStages = 256;  // more than any job has
constexpr std::size_t kMostArtifacts = 10'000;

}  // namespace

void Fleet::keep() {
  while (!stop_.stop_requested()) {
    Plan next;
    {
      MutexLock lock(mutex_);
      keeper_is_asked_ = false;
      next = plan();
      if (next.starts == 0 && !next.drain && next.ended.empty()) {
        keeper_wakes_.wait_for(lock, stop_.get_token(), kLook,
                               [this]() ASSAY_REQUIRES(mutex_) { return keeper_is_asked_; });
        continue;
      }
    }
    for (const auto& seat : next.ended) seat->reader.join();
    for (std::int64_t i = 0; i < next.starts && !stop_.stop_requested(); ++i) start_worker();
    if (next.drain) drain(*next.drain);
  }
}

void Fleet::wake_keeper() {
  keeper_is_asked_ = true;
  keeper_wakes_.notify_all();
}

Fleet::Plan Fleet::plan() {
  Plan next;
  const std::int64_t now_ns = system_clock().monotonic_ns();
  std::vector<std::shared_ptr<Seat>> kept;
  std::vector<KeptWorker> states;
  for (auto seat = seats_.begin(); seat != seats_.end();) {
    if ((*seat)->state == Seat::State::ended) {
      next.ended.push_back(*seat);
      seat = seats_.erase(seat);
      continue;
    }
    if ((*seat)->state == Seat::State::draining && (*seat)->taken == 0) {
      if ((*seat)->end_by_ns == 0) (*seat)->end_by_ns = now_ns + kGraceMs * kNsPerMs;
      if (now_ns >= (*seat)->end_by_ns) (*seat)->stream->hang_up();
    }
    if ((*seat)->state != Seat::State::draining) {
      kept.push_back(*seat);
      states.push_back(
          {.is_idle = (*seat)->state == Seat::State::ready && (*seat)->taken == 0 &&
                      now_ns - (*seat)->idle_since_ns >= settings_.idle_s * 1'000 * kNsPerMs,
           .is_doubted = (*seat)->doubted_until_ns > now_ns});
    }
    ++seat;
  }
  const SizeChange change = size_change(states, needed(), settings_.most);
  if (change.starts > 0 && now_ns >= next_start_ns_) {
    // After a failure, workers are started one by one. A command that hangs, such as an srun whose
    // controller has forgotten it, must not keep the others from starting.
    next.starts = failures_in_row_ > 0 ? 1 : change.starts;
    if (failures_in_row_ > 0) next_start_ns_ = now_ns + kFirstPauseMs * kNsPerMs;
  }
  if (change.end) {
    next.drain = kept[*change.end];
    next.drain->state = Seat::State::draining;
    next.drain->asked_to_drain = true;
  }
  return next;
}

void Fleet::start_worker() {
  const auto seat = std::make_shared<Seat>();
  {
    const MutexLock lock(mutex_);
    seat->number = next_number_++;
    ++sums_.starts;
  }
  seat->name = settings_.name + "-" + std::to_string(seat->number);
  Result<std::unique_ptr<WorkerStream>> stream =
      WorkerStream::start(spawner_, settings_.command, logs_ + "/" + seat->name + ".log");
  if (!stream)
    log::error("a worker did not start",
               {{"worker", seat->name}, {"reason", stream.error().message}});
  const MutexLock lock(mutex_);
  if (!stream) return fail_start(stream.error().message);
  seat->stream = std::move(*stream);
  seat->reader = std::jthread([this, &seat = *seat] { watch(seat); });
  seats_.push_back(seat);
}

void Fleet::fail_start(const std::string& reason) {
  ++sums_.failed_starts;
  ++failures_in_row_;
  sums_.problem = reason;
  const std::int64_t doublings = std::min(failures_in_row_ - 1, kMostDoublings);
  const std::int64_t pause_ms = std::min(kFirstPauseMs << doublings, kLongestPauseMs);
  next_start_ns_ = system_clock().monotonic_ns() + pause_ms * kNsPerMs;
  changed_.notify_all();
}

void Fleet::watch(Seat& seat) {
  const Result<WorkerHello> hello = seat.stream->greet(
      Deadline::after_ms(settings_.start_s * 1'000, stop_.get_token()), revision_);
  Status good = hello ? admit(seat, *hello) : Status(fail(hello.error()));
  if (!good) {
    if (good.error().code != ErrorCode::cancelled) {
      log::error("a worker did not start",
                 {{"worker", seat.name}, {"reason", good.error().message}});
      const MutexLock lock(mutex_);
      fail_start(good.error().message);
    }
    seat.stream->hang_up();
    seat.stream->finish(0);
  } else {
    log::info("a worker is ready",
              {{"worker", seat.name}, {"device", escape_text(hello->device.description)}});
    while (good) {
      Result<sandbox::Frame> frame = seat.stream->receive(kSilenceMs);
      good = frame ? dispatch(seat, std::move(*frame)) : Status(fail(frame.error()));
    }
    lose(seat, good.error().message);
  }
  const MutexLock lock(mutex_);
  // The keeper notices the end at its next look. So a worker that ends again and again starts at
  // most once a second.
  seat.state = Seat::State::ended;
  changed_.notify_all();
}

/// Makes a worker ready. Errors: unavailable if the pool cannot use it.
Status Fleet::admit(Seat& seat, const WorkerHello& hello) {
  if (records_ != nullptr) {
    const std::string agreed = records_->agreed_target(hello.device.default_target);
    if (agreed != hello.device.default_target)
      return fail(ErrorCode::unavailable,
                  "the worker on " + escape_text(hello.host) +
                      " was refused: it launches plans for " +
                      escape_text(hello.device.default_target) + ", and the pool " +
                      settings_.records + " records for " + escape_text(agreed) +
                      "; give it a pool of its own with role record, whose workers have "
                      "--compile-target " +
                      escape_text(hello.device.default_target));
  }
  const MutexLock lock(mutex_);
  const std::int64_t now_ns = system_clock().monotonic_ns();
  const std::string host = escape_text(hello.host);
  if (const auto found = quarantines_.find(host); found != quarantines_.end()) {
    if (found->second.until_ns > now_ns)
      return fail(ErrorCode::unavailable,
                  "the machine " + host + " is in quarantine: " + found->second.reason);
    quarantines_.erase(found);
  }
  if (settings_.role == kRoleRecord) {
    if (target_.empty()) target_ = hello.device.default_target;
    if (target_ != hello.device.default_target)
      return fail(ErrorCode::unavailable,
                  "the worker on " + host + " was refused: it records for " +
                      escape_text(hello.device.default_target) + ", and the pool records for " +
                      escape_text(target_) + "; start it with --compile-target " +
                      escape_text(target_));
  }
  if (!class_) class_ = hello.device;
  if (const std::string other = sandbox::class_difference(*class_, hello.device); !other.empty())
    return fail(ErrorCode::unavailable,
                "the worker on " + host + " was refused: its " + other +
                    "; times of different devices cannot be compared, so give them two pools");
  seat.host = host;
  seat.device = hello.device;
  seat.missing_layers = missing_layers(hello.layers);
  seat.name += "@" + host;
  seat.capacity = std::min<std::int64_t>(settings_.jobs_per_worker, hello.device.concurrency);
  seat.idle_since_ns = now_ns;
  seat.health_due_ns = now_ns;
  seat.state = Seat::State::ready;
  if (settings_.health_check_s == 0) {  // accept() does this for a worker with a health check
    failures_in_row_ = 0;
    sums_.problem.clear();
  }
  changed_.notify_all();
  emptied_.notify_all();
  return {};
}

/// Handles one message of the worker. Errors: corrupt if the worker broke the protocol.
Status Fleet::dispatch(Seat& seat, sandbox::Frame frame) {
  const std::string type = frame.type();
  if (type == kAliveType) return {};
  if (type == kDrainingType) {
    sandbox::HeaderReader in(frame.header, type);
    const std::string reason = in.text("reason");
    ASSAY_RETURN_IF_ERROR(in.status());
    log::info("a worker drains", {{"worker", seat.name}, {"reason", escape_text(reason)}});
    const MutexLock lock(mutex_);
    seat.state = Seat::State::draining;
    seat.preempted = !seat.asked_to_drain;
    wake_keeper();
    return {};
  }
  ASSAY_TRY(tag, read_tag(frame));
  // Messages are read before the lock is taken, because a verdict may be large.
  std::optional<sandbox::Stage> stage;
  std::optional<CasesDone> cases;
  std::optional<sandbox::Artifact> artifact;
  std::optional<sandbox::Verdict> verdict;
  if (type == kStageType) {
    ASSAY_TRY(read, read_stage(frame));
    stage = read;
  } else if (type == kCasesType) {
    ASSAY_TRY(read, read_cases(frame));
    cases = read;
  } else if (type == kArtifactType) {
    ASSAY_TRY(read, read_artifact(frame));
    artifact = std::move(read);
  } else if (type == kVerdictType) {
    ASSAY_TRY(read, read_verdict(frame));
    verdict = std::move(read);
  } else if (settings_.role == kRoleLaunch
                 ? !is_from_launcher(type)
                 : settings_.role != kRoleRecord || !is_from_recorder(type) ||
                       type == kPlacedType) {  // only the server answers `place`
    return fail(ErrorCode::corrupt, "it sent the unknown message '" + escape_text(type) + "'");
  } else if (const Result<std::int64_t> recording = read_recording(frame); !recording) {
    return fail(recording.error());  // no order would get this answer
  }
  const MutexLock lock(mutex_);
  const auto found = seat.calls.find(tag);
  // Nobody waits for this execution any more, or it has a verdict, which counts once.
  if (found == seat.calls.end() || found->second->answered) {
    ++sums_.late_messages;
    return {};
  }
  Call& call = *found->second;
  if (call.recordings != nullptr && (is_from_launcher(type) || is_from_recorder(type))) {
    call.recordings->put(std::move(frame));
    return {};
  }
  if (stage && call.stages.size() < kMostStages) call.stages.push_back(*stage);
  if (cases) call.cases = cases;
  if (artifact && call.artifacts.size() < kMostArtifacts)
    call.artifacts.push_back(std::move(*artifact));
  if (verdict) {
    call.verdict = std::move(verdict);
    call.answered = true;
  }
  call.changed.notify_all();
  return {};
}

/// Ends a worker whose stream has ended or broken, and tells the jobs that it had.
void Fleet::lose(Seat& seat, const std::string& reason) {
  bool expected = false;
  {
    const MutexLock lock(mutex_);
    const bool has_jobs = std::any_of(seat.calls.begin(), seat.calls.end(),
                                      [](const auto& tagged) { return !tagged.second->answered; });
    expected = stop_.stop_requested() || (seat.state == Seat::State::draining && !has_jobs);
    seat.state = Seat::State::draining;
    const std::string said = "worker " + seat.name + " was lost: " + reason;
    seat.lost = said;
    if (!expected) {
      ++sums_.losses;
      sums_.problem = said;
      next_start_ns_ = system_clock().monotonic_ns() + kFirstPauseMs * kNsPerMs;
      if (settings_.health_check_s > 0 && !seat.proven) fail_start(said);
    }
    for (const auto& [tag, call] : seat.calls) {
      if (call->answered) continue;
      call->lost = said;
      if (settings_.role == kRoleRecord && call->recordings != nullptr)
        call->recordings->close(said);
      call->changed.notify_all();
    }
  }
  seat.stream->hang_up();
  const std::string end = seat.stream->finish(expected ? kGraceMs : 0);
  if (!expected)
    log::error("a worker was lost", {{"worker", seat.name},
                                     {"reason", reason},
                                     {"end", end},
                                     {"stderr", seat.stream->words()}});
}

}  // namespace assay::server
