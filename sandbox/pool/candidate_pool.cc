#include "sandbox/pool/candidate_pool.h"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <utility>

namespace assay::sandbox {
namespace {

// After this number of zygote deaths in a row, the caller gets an error.
constexpr int kMaxDeaths = 2;
constexpr std::int64_t kParkMs = 15'000;
// The pause after a failure to start a zygote or to park a candidate. A call of take() ends the
// pause.
constexpr auto kZygoteRetryPause = std::chrono::seconds(2);
// The pause between attempts to remove the cgroups of dead supervisors.
constexpr auto kSweepPause = std::chrono::milliseconds(500);

}  // namespace

CandidatePool::CandidatePool(const SandboxConfig& config, Spawner& spawner)
    : config_(config),
      spawner_(spawner),
      working_(config.recording_jobs, "every core was in use for all of the time allowed"),
      thread_([this] { run(); }) {}

CandidatePool::~CandidatePool() {
  shutdown_.request_stop();
  {
    const MutexLock lock(mutex_);
    changed_.notify_all();
  }
  thread_.join();
}

int CandidatePool::recorders_for(int most) const {
  const int each = config_.recorder_cores / std::max(working_.held(), 1);
  return std::clamp(each, 1, std::max(most, 1));
}

CandidatePool::Counts CandidatePool::counts() const {
  const MutexLock lock(mutex_);
  const auto parked = static_cast<std::int64_t>(parked_.size());
  const auto slots = static_cast<std::int64_t>(used_slots_.size());
  return {parked, std::max<std::int64_t>(0, slots - parked)};
}

Result<std::vector<LayerReport>> CandidatePool::layers(const Deadline& deadline) {
  ASSAY_TRY(first, take(config_.job_limits, deadline));
  give_back(std::move(first));
  return facts().value_or(PoolFacts{}).layers;
}

std::optional<PoolFacts> CandidatePool::facts() const {
  const MutexLock lock(mutex_);
  return facts_;
}

Result<std::unique_ptr<Candidate>> CandidatePool::take(const Limits& limits,
                                                       const Deadline& deadline) {
  MutexLock lock(mutex_);
  failure_.reset();  // take() starts a new attempt
  changed_.notify_all();
  std::unique_ptr<Candidate> candidate;
  const auto ready = [&]() ASSAY_REQUIRES(mutex_) {
    return (candidate = pop_parked()) != nullptr || failure_.has_value();
  };
  if (!deadline.wait(changed_, lock, ready)) {
    return deadline.cancelled()
               ? fail(ErrorCode::cancelled, "cancelled")
               : fail(ErrorCode::resource_exhausted, "no candidate was ready in time");
  }
  if (!candidate) return fail(*failure_);
  if (candidate->suits(limits)) {
    changed_.notify_all();
    return candidate;
  }
  parked_.push_front(std::move(candidate));
  lock.unlock();
  return park(limits, deadline);
}

void CandidatePool::give_back(std::unique_ptr<Candidate> candidate) {
  if (!candidate) return;
  const int slot = candidate->slot();
  candidate.reset();
  const MutexLock lock(mutex_);
  used_slots_.erase(slot);
  changed_.notify_all();
}

/// Returns a waiting candidate that is alive, or nullptr. Drops the candidates whose zygote has
/// died.
std::unique_ptr<Candidate> CandidatePool::pop_parked() {
  while (!parked_.empty()) {
    std::unique_ptr<Candidate> candidate = std::move(parked_.front());
    parked_.pop_front();
    if (candidate->alive()) return candidate;
    used_slots_.erase(candidate->slot());
    changed_.notify_all();  // wakes the pool's thread, which parks another candidate
  }
  return nullptr;
}

std::optional<int> CandidatePool::free_slot() const {
  // Each slot has its own user id and cgroup, so the pools of one device must use different
  // slots.
  const bool judges = !config_.judged_suite.empty();
  const int first = judges ? 2 * kSlots + config_.first_judge_slot : config_.gpu ? kSlots : 0;
  const int slots = judges ? config_.judge_slots : kSlots;
  for (int slot = first; slot < first + slots; ++slot) {
    if (used_slots_.count(slot) == 0) return slot;
  }
  return std::nullopt;
}

bool CandidatePool::lacks_candidates() const {
  return static_cast<int>(parked_.size()) < std::max(config_.parked_candidates, 1);
}

void CandidatePool::run() {
  while (const std::optional<Work> work = next_work()) {
    if (*work == Work::start_zygote)
      start_zygote();
    else
      park_one();
  }
}

std::optional<CandidatePool::Work> CandidatePool::next_work() {
  const std::stop_token stop = shutdown_.get_token();
  MutexLock lock(mutex_);
  while (!stop.stop_requested()) {
    if (!swept_) swept_ = sweep_cgroups();
    if (failure_) {
      changed_.wait_for(lock, stop, kZygoteRetryPause,
                        [&]() ASSAY_REQUIRES(mutex_) { return !failure_; });
      failure_.reset();
    } else if (!config_.spawn && (!zygote_ || !zygote_->alive())) {
      return Work::start_zygote;
    } else if (lacks_candidates()) {
      return Work::park;
    } else {
      const auto has_work = [&]() ASSAY_REQUIRES(mutex_) {
        return lacks_candidates() || stop.stop_requested();
      };
      const std::stop_token zygote_ended = zygote_ ? zygote_->ended() : std::stop_token();
      if (swept_)
        changed_.wait(lock, zygote_ended, has_work);
      else
        changed_.wait_for(lock, zygote_ended, kSweepPause, has_work);
    }
  }
  return std::nullopt;
}

void CandidatePool::start_zygote() {
  {
    MutexLock lock(mutex_);
    const std::shared_ptr<Zygote> old = std::move(zygote_);
    lock.unlock();  // ending the zygote takes some time
  }
  Result<std::shared_ptr<Zygote>> zygote =
      fresh_zygote(Deadline::after_ms(config_.zygote_ready_ms, shutdown_.get_token()));
  const MutexLock lock(mutex_);
  if (zygote)
    zygote_ = std::move(*zygote);
  else
    failure_ = zygote.error();
  changed_.notify_all();
}

/// Starts a zygote. Under strict isolation a missing isolation layer is an error.
Result<std::shared_ptr<Zygote>> CandidatePool::fresh_zygote(const Deadline& deadline) {
  Result<std::unique_ptr<Zygote>> zygote = Zygote::start(config_, spawner_, deadline);
  if (!zygote) return fail(zygote.error());
  const std::vector<LayerReport>& layers = (*zygote)->ready().layers;
  const auto missing = std::find_if(layers.begin(), layers.end(),
                                    [](const LayerReport& layer) { return !layer.active; });
  if (config_.isolation == Isolation::strict && missing != layers.end())
    return fail(ErrorCode::unavailable,
                "strict isolation needs the layer " + missing->name + ": " + missing->detail);
  return std::shared_ptr<Zygote>(std::move(*zygote));
}

void CandidatePool::park_one() {
  const std::int64_t wait_ms = kParkMs + (config_.spawn ? config_.zygote_ready_ms : 0);
  Result<std::unique_ptr<Candidate>> candidate =
      park(config_.job_limits, Deadline::after_ms(wait_ms, shutdown_.get_token()));
  const MutexLock lock(mutex_);
  if (!candidate) {
    // If the zygote has died, a new zygote is started first. An error is reported only if zygotes
    // keep dying during forks.
    const bool zygote_lives = zygote_ && zygote_->alive();
    if (config_.spawn || zygote_lives || ++deaths_ >= kMaxDeaths) failure_ = candidate.error();
  } else {
    deaths_ = 0;
    if (!facts_) {
      const ZygoteReady& ready = (*candidate)->zygote().ready();
      facts_ = PoolFacts{ready.versions, ready.layers};
      facts_->layers.insert(facts_->layers.end(), (*candidate)->layers().begin(),
                            (*candidate)->layers().end());
    }
    parked_.push_back(std::move(*candidate));
  }
  changed_.notify_all();
}

/// Forks a candidate. The lock is not held during the fork.
Result<std::unique_ptr<Candidate>> CandidatePool::park(const Limits& limits,
                                                       const Deadline& deadline) {
  std::optional<int> slot;
  Result<std::shared_ptr<Zygote>> zygote;
  {
    const MutexLock lock(mutex_);
    slot = free_slot();
    if (!slot)
      return fail(ErrorCode::resource_exhausted,
                  "all " + std::to_string(kSlots) + " slots are in use");
    if (!zygote_ && !config_.spawn)
      return fail(ErrorCode::unavailable, "the zygote is being restarted");
    used_slots_.insert(*slot);
    zygote = zygote_;
  }
  if (config_.spawn) zygote = fresh_zygote(deadline);
  Result<std::unique_ptr<Candidate>> candidate =
      zygote ? Candidate::park(std::move(*zygote), *slot, limits, config_, deadline)
             : fail(zygote.error());
  if (candidate) return candidate;
  const MutexLock lock(mutex_);
  used_slots_.erase(*slot);
  return candidate;
}

}  // namespace assay::sandbox
