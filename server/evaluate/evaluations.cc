#include "server/evaluate/evaluations.h"

#include <algorithm>

#include "base/handle.h"
#include "base/log.h"
#include "server/evaluate/evaluation_result.h"

namespace assay::server {
namespace {

using nlohmann::json;
using tl::unexpected;

constexpr std::size_t kInputsDigits = 12;
constexpr std::int64_t kDeadlineSweepMs =
    60'000;  // between two looks at all evaluations with a deadline

}  // namespace

Evaluations::Evaluations(const tools::Services& services, InputGroups& groups,
                         const EvaluationLimits& limits)
    : services_(services),
      groups_(groups),
      limits_(limits),
      canceller_([this](std::stop_token stop) { watch_deadlines(stop); }) {}

Evaluations::~Evaluations() {
  canceller_.request_stop();
  canceller_.join();
}

std::vector<Evaluations::Accepted> Evaluations::accept(const tools::Principal& principal,
                                                       const std::vector<Wanted>& members) {
  std::vector<Accepted> answers(members.size());
  std::vector<Place> places(members.size());
  std::vector<tools::NewJob> jobs;
  std::vector<std::size_t> indices;
  for (std::size_t i = 0; i < members.size(); ++i) {
    const Wanted& wanted = members[i];
    if (wanted.problem) {
      answers[i].problem = wanted.problem;
      continue;
    }
    places[i] = reserve(principal, wanted);
    if (places[i].answer) {
      answers[i] = *places[i].answer;
      continue;
    }
    sandbox::Job job = wanted.job;
    job.id = places[i].id;
    if (!wanted.group.empty()) {
      job.input_seed = groups_.secret_of(principal.name, wanted.group, job.id);
      const MutexLock lock(mutex_);
      Known& known = known_[places[i].key];
      known.group = wanted.group;
      known.inputs = sha256_hex(job.input_seed).substr(0, kInputsDigits);
    }
    jobs.push_back({std::move(job), wanted.run, wanted.device, wanted.call_id});
    indices.push_back(i);
  }
  const std::vector<Result<std::string>> stored =
      services_.jobs.submit_all(principal, std::move(jobs));
  std::map<std::string, Problem> refused;  // by the id that the job would have had
  for (std::size_t n = 0; n < indices.size(); ++n) {
    const std::size_t i = indices[n];
    const bool is_repeated = stored[n] && *stored[n] != places[i].id;
    if (is_repeated) rename(places[i], *stored[n]);
    // Other requests that wait for this evaluation may change its deadline once it is settled.
    if (stored[n]) set_deadline(principal, *stored[n], members[i].deadline_unix_ms, false);
    settle(places[i].key, stored[n].has_value());
    if (stored[n]) {
      answers[i].id = *stored[n];
      answers[i].duplicate = is_repeated;
    } else {
      groups_.forget(places[i].id);
      answers[i].problem = problem_of(stored[n].error());
      refused[places[i].id] = *answers[i].problem;
    }
  }
  for (std::size_t i = 0; i < members.size(); ++i) {
    Accepted& answer = answers[i];
    if (!places[i].answer || !answer.duplicate) continue;  // not the evaluation of another request
    const auto found = refused.find(answer.id);
    if (found != refused.end()) {
      answer = {.id = "", .problem = found->second};
      continue;
    }
    if (const std::optional<std::string> id = settled_id(places[i].key, members[i].digest)) {
      answer.id = *id;
      set_deadline(principal, answer.id, members[i].deadline_unix_ms, true);
    } else {
      answer = accept(principal, {members[i]}).front();
    }
  }
  return answers;
}

bool Evaluations::says_nothing(const tools::Principal& principal, const std::string& id) {
  const auto status = services_.jobs.wait(principal, id, 0, nullptr, {});
  if (!status) return status.error().code == ErrorCode::not_found;
  return status->verdict && sandbox::is_inconclusive(status->verdict->error_kind);
}

Evaluations::Place Evaluations::reserve(const tools::Principal& principal, const Wanted& wanted) {
  const Key key{principal.name, wanted.key};
  MutexLock lock(mutex_);
  forget_old();
  const auto found = known_.find(key);
  if (found != known_.end()) {
    const Known known = found->second;
    if (known.digest != wanted.digest)
      return {.answer = Accepted{.problem = Problem{ProblemType::key_reused,
                                                    "the idempotency key '" + wanted.key +
                                                        "' belongs to another evaluation; use "
                                                        "another key"}}};
    bool stale = false;
    if (known.accepted) {
      lock.unlock();
      stale = says_nothing(principal, known.id);
      lock.lock();
    }
    const auto now = known_.find(key);
    if (!stale && now != known_.end() && now->second.id == known.id)
      return {.answer = Accepted{.id = known.id, .duplicate = true}, .key = key};
    if (now != known_.end() && now->second.id != known.id)
      return {.answer = Accepted{.id = now->second.id, .duplicate = true}, .key = key};
    if (now != known_.end()) forget(key);
  }
  Known known;
  known.id = new_handle("job");
  known.digest = wanted.digest;
  known.since_ns = services_.clock.monotonic_ns();
  keys_[known.id] = key;
  by_age_.emplace(known.since_ns, key);
  Place place{.answer = std::nullopt, .key = key, .id = known.id};
  known_[key] = std::move(known);
  return place;
}

std::optional<std::string> Evaluations::settled_id(const Key& key, const std::string& digest) {
  MutexLock lock(mutex_);
  settled_.wait(lock, canceller_.get_stop_token(), [&]() ASSAY_REQUIRES(mutex_) {
    const auto found = known_.find(key);
    return found == known_.end() || found->second.accepted;
  });
  const auto found = known_.find(key);
  if (found == known_.end() || found->second.digest != digest) return std::nullopt;
  return found->second.id;
}

void Evaluations::rename(const Place& place, const std::string& id) {
  groups_.forget(place.id);
  const MutexLock lock(mutex_);
  keys_.erase(place.id);
  const auto found = known_.find(place.key);
  if (found == known_.end() || found->second.id != place.id) return;
  found->second.id = id;
  found->second.group.clear();  // nobody knows which inputs the job had
  found->second.inputs.clear();
  keys_[id] = place.key;
}

void Evaluations::settle(const Key& key, bool accepted) {
  {
    const MutexLock lock(mutex_);
    const auto found = known_.find(key);
    if (found == known_.end()) return;
    found->second.accepted = true;
    if (!accepted) forget(key);
  }
  settled_.notify_all();
}

void Evaluations::forget(const Key& key) {
  const auto found = known_.find(key);
  if (found == known_.end()) return;
  const auto [begin, end] = by_age_.equal_range(found->second.since_ns);
  for (auto it = begin; it != end; ++it) {
    if (it->second != key) continue;
    by_age_.erase(it);
    break;
  }
  keys_.erase(found->second.id);
  overdue_.erase(found->second.id);
  known_.erase(found);
}

void Evaluations::forget_old() {
  const std::int64_t oldest_ns = services_.clock.monotonic_ns() - limits_.keep_ms * kNsPerMs;
  while (!by_age_.empty() &&
         (known_.size() >= limits_.most_keys || by_age_.begin()->first < oldest_ns))
    forget(Key(by_age_.begin()->second));
}

tl::expected<json, Problem> Evaluations::look(const tools::Principal& principal,
                                              const std::string& id, std::int64_t wait_ms,
                                              const std::stop_token& stop) {
  {
    // The job may be that of another request, which is storing it.
    MutexLock lock(mutex_);
    settled_.wait(lock, stop, [&]() ASSAY_REQUIRES(mutex_) {
      const auto key = keys_.find(id);
      return key == keys_.end() || known_[key->second].accepted;
    });
  }
  const auto status = services_.jobs.wait(principal, id, wait_ms, nullptr, stop);
  if (!status) return unexpected<Problem>(problem_of(status.error()));
  if (status->verdict) groups_.note_read(id);
  json result = result_of(services_.catalog, services_.limits, *status);
  const MutexLock lock(mutex_);
  const auto key = keys_.find(id);
  if (key == keys_.end()) return result;
  const Known& known = known_[key->second];
  result["key"] = key->second.second;
  if (!known.group.empty()) {
    result["group"] = known.group;
    result["inputs"] = known.inputs;
  }
  if (overdue_.count(id) > 0 && status->state == tools::JobState::cancelled)
    result["deadline_passed"] = true;
  return result;
}

tl::expected<void, Problem> Evaluations::cancel(const tools::Principal& principal,
                                                const std::string& id) {
  if (const Status done = services_.jobs.cancel(principal, id); !done)
    return unexpected<Problem>(problem_of(done.error()));
  return {};
}

void Evaluations::set_deadline(const tools::Principal& principal, const std::string& id,
                               const std::optional<std::int64_t>& deadline, bool duplicate) {
  {
    const MutexLock lock(mutex_);
    const auto found = deadlines_.find(id);
    if (duplicate && found == deadlines_.end()) return;  // the first request has no deadline
    if (!deadline) {
      deadlines_.erase(id);
      return;
    }
    ++deadline_changes_;
    if (found != deadlines_.end())
      found->second.unix_ms = std::max(found->second.unix_ms, *deadline);
    else
      deadlines_[id] = {*deadline, principal};
  }
  deadline_added_.notify_one();
}

std::size_t Evaluations::deadlines() const {
  const MutexLock lock(mutex_);
  return deadlines_.size();
}

std::vector<std::pair<std::string, tools::Principal>> Evaluations::wait_for_deadlines(
    const std::stop_token& stop) {
  const Clock& clock = services_.clock;
  MutexLock lock(mutex_);
  const std::int64_t changes = deadline_changes_;
  if (next_sweep_ns_ == 0) next_sweep_ns_ = clock.monotonic_ns() + kDeadlineSweepMs * kNsPerMs;
  std::int64_t until_ns = next_sweep_ns_;
  for (const auto& [id, deadline] : deadlines_) {
    // In nanoseconds, 64 bits do not hold the time until a deadline in some centuries.
    const std::int64_t pause_ms =
        std::clamp<std::int64_t>(deadline.unix_ms - clock.unix_ms(), 0, kDeadlineSweepMs);
    until_ns = std::min(until_ns, clock.monotonic_ns() + pause_ms * kNsPerMs);
  }
  clock.wait_until(deadline_added_, lock, stop, until_ns,
                   [&]() ASSAY_REQUIRES(mutex_) { return deadline_changes_ != changes; });
  const bool sweeps = clock.monotonic_ns() >= next_sweep_ns_;
  if (sweeps) next_sweep_ns_ = 0;
  std::vector<std::pair<std::string, tools::Principal>> due;
  for (const auto& [id, deadline] : deadlines_) {
    if (sweeps || deadline.unix_ms <= clock.unix_ms()) due.emplace_back(id, deadline.principal);
  }
  return due;
}

void Evaluations::look_at_deadline(const std::string& id, const tools::Principal& principal) {
  const auto status = services_.jobs.wait(principal, id, 0, nullptr, {});
  const bool waits = status && status->state == tools::JobState::queued;
  {
    const MutexLock lock(mutex_);
    const auto found = deadlines_.find(id);
    if (found == deadlines_.end()) return;
    if (waits && found->second.unix_ms > services_.clock.unix_ms()) return;
    deadlines_.erase(found);
    if (!waits) return;
    overdue_.insert(id);
  }
  const Result<bool> ended = services_.jobs.cancel_queued(principal, id);
  if (!ended)
    log::warning("an evaluation was not cancelled at its deadline",
                 {{"job", id}, {"error", ended.error().message}});
  if (ended && *ended) return;
  const MutexLock lock(mutex_);
  overdue_.erase(id);
}

void Evaluations::watch_deadlines(const std::stop_token& stop) {
  while (!stop.stop_requested()) {
    for (const auto& [id, principal] : wait_for_deadlines(stop)) look_at_deadline(id, principal);
  }
}

}  // namespace assay::server
