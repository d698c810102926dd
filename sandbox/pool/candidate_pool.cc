#include "sandbox/pool/candidate_pool.h"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <utility>

#include "sandbox/jail/jail.h"

namespace assay::sandbox {
namespace {

constexpr int kPoolSlots = kMaxSlots / 2;
constexpr int kMaxDeaths = 2;  // of zygotes in a row, before a caller is told
constexpr std::int64_t kParkMs = 15'000;
constexpr auto kRetryPause = std::chrono::seconds(2);  // after a failure nobody waited for
constexpr auto kWaitSlice = std::chrono::milliseconds(50);
constexpr auto kHealthPause = std::chrono::milliseconds(500);

}  // namespace

CandidatePool::CandidatePool(const SandboxConfig& config, Spawner& spawner)
    : config_(config), spawner_(spawner), thread_([this] { run(); }) {}

CandidatePool::~CandidatePool() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  shutdown_.request_stop();
  changed_.notify_all();
  thread_.join();
  parked_.clear();
}

std::optional<PoolFacts> CandidatePool::facts() const {
  const std::lock_guard lock(mutex_);
  return facts_;
}

Result<std::unique_ptr<Candidate>> CandidatePool::take(const Limits& limits,
                                                       const Deadline& deadline) {
  Lock lock(mutex_);
  failure_.reset();  // a new caller is worth a new attempt
  changed_.notify_all();
  while (true) {
    if (std::unique_ptr<Candidate> candidate = pop_parked()) {
      changed_.notify_all();
      if (candidate->suits(limits)) return candidate;
      parked_.push_front(std::move(candidate));
      return park(lock, limits, deadline);
    }
    if (failure_ || stop_ || deadline.over()) {
      if (failure_) return fail(*failure_);
      return deadline.cancelled()
                 ? fail(ErrorCode::cancelled, "cancelled")
                 : fail(ErrorCode::resource_exhausted, "no candidate was ready in time");
    }
    changed_.wait_for(lock, kWaitSlice);
  }
}

void CandidatePool::give_back(std::unique_ptr<Candidate> candidate) {
  if (!candidate) return;
  const int slot = candidate->slot();
  candidate.reset();
  const std::lock_guard lock(mutex_);
  used_slots_.erase(slot);
  changed_.notify_all();
}

/// A live one, or null. Dead ones (their zygote died) are dropped.
std::unique_ptr<Candidate> CandidatePool::pop_parked() {
  while (!parked_.empty()) {
    std::unique_ptr<Candidate> candidate = std::move(parked_.front());
    parked_.pop_front();
    if (candidate->alive()) return candidate;
    used_slots_.erase(candidate->slot());
  }
  return nullptr;
}

std::optional<int> CandidatePool::free_slot() const {
  // Two pools of one server share no slot: a slot is a user and a control group.
  const int first = config_.gpu ? kPoolSlots : 0;
  for (int slot = first; slot < first + kPoolSlots; ++slot) {
    if (used_slots_.count(slot) == 0) return slot;
  }
  return std::nullopt;
}

void CandidatePool::run() {
  Lock lock(mutex_);
  bool swept = sweep_cgroups();
  while (!stop_) {
    if (!swept) swept = sweep_cgroups();
    if (failure_) {
      changed_.wait_for(lock, kRetryPause, [&] { return stop_ || !failure_; });
      failure_.reset();
    } else if (!config_.spawn && (!zygote_ || !zygote_->alive())) {
      start_zygote(lock);
    } else if (static_cast<int>(parked_.size()) < std::max(config_.parked_candidates, 1)) {
      park_one(lock);
    } else {
      changed_.wait_for(lock, kHealthPause);
    }
  }
}

void CandidatePool::start_zygote(Lock& lock) {
  std::shared_ptr<Zygote> old = std::move(zygote_);
  lock.unlock();
  old.reset();
  Result<std::shared_ptr<Zygote>> zygote =
      fresh_zygote(Deadline::after_ms(config_.zygote_ready_ms, shutdown_.get_token()));
  lock.lock();
  if (zygote)
    zygote_ = std::move(*zygote);
  else
    failure_ = zygote.error();
  changed_.notify_all();
}

/// A new one, with every layer that is asked for.
Result<std::shared_ptr<Zygote>> CandidatePool::fresh_zygote(const Deadline& deadline) {
  Result<std::unique_ptr<Zygote>> zygote = Zygote::start(config_, spawner_, deadline);
  if (!zygote) return fail(zygote.error());
  const std::vector<Layer>& layers = (*zygote)->ready().layers;
  const auto missing =
      std::find_if(layers.begin(), layers.end(), [](const Layer& layer) { return !layer.active; });
  if (config_.isolation == Isolation::strict && missing != layers.end())
    return fail(ErrorCode::unavailable,
                "strict isolation needs the layer " + missing->name + ": " + missing->detail);
  return std::shared_ptr<Zygote>(std::move(*zygote));
}

void CandidatePool::park_one(Lock& lock) {
  const std::int64_t wait_ms = kParkMs + (config_.spawn ? config_.zygote_ready_ms : 0);
  Result<std::unique_ptr<Candidate>> candidate =
      park(lock, config_.job_limits, Deadline::after_ms(wait_ms, shutdown_.get_token()));
  if (!candidate) {
    // A zygote that died meanwhile is started again first; one that dies whenever it forks is a
    // failure.
    if (config_.spawn || zygote_->alive() || ++deaths_ >= kMaxDeaths) failure_ = candidate.error();
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

/// Forks one without holding the lock meanwhile.
Result<std::unique_ptr<Candidate>> CandidatePool::park(Lock& lock, const Limits& limits,
                                                       const Deadline& deadline) {
  const std::optional<int> slot = free_slot();
  if (!slot)
    return fail(ErrorCode::resource_exhausted,
                "all " + std::to_string(kPoolSlots) + " slots are in use");
  if (!zygote_ && !config_.spawn)
    return fail(ErrorCode::unavailable, "the zygote is being restarted");
  used_slots_.insert(*slot);
  Result<std::shared_ptr<Zygote>> zygote = zygote_;
  lock.unlock();
  if (config_.spawn) zygote = fresh_zygote(deadline);
  Result<std::unique_ptr<Candidate>> candidate =
      zygote ? Candidate::park(std::move(*zygote), *slot, limits, config_, deadline)
             : fail(zygote.error());
  lock.lock();
  if (!candidate) used_slots_.erase(*slot);
  return candidate;
}

}  // namespace assay::sandbox
