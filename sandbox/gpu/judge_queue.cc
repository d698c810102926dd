#include "sandbox/gpu/judge_queue.h"

#include <algorithm>
#include <tuple>
#include <vector>

namespace assay::sandbox {

JudgeQueue::Turn::~Turn() {
  prepared(false);
  end_reservation();
  if (owner_ != nullptr) owner_->leave(judge_);
}

Status JudgeQueue::Turn::begin_load(const Deadline& deadline) {
  return owner_->begin_load(*this, deadline);
}

Status JudgeQueue::Turn::reserve(const Deadline& deadline) {
  if (reserves_) return {};
  if (Status reserved = owner_->reserve(*this, deadline); !reserved) return reserved;
  reserves_ = true;
  return {};
}

void JudgeQueue::Turn::end_reservation() {
  if (std::exchange(reserves_, false)) owner_->end_reservation(judge_);
}

void JudgeQueue::Turn::prepared(bool made) {
  if (std::exchange(preparing_, false)) owner_->end_preparation(*this, made);
}

JudgeQueue::Operator& JudgeQueue::find(const Wanted& wanted) {
  const auto found = operators_.find(wanted.operator_name);
  if (found != operators_.end()) return found->second;
  const auto [code, added] = codes_.try_emplace(
      {wanted.shared_code, wanted.shared_code.empty() ? wanted.operator_name : std::string()});
  if (added) {
    code->second.home = least_used_judge();
    ++judges_[code->second.home].codes;
  }
  return operators_.emplace(wanted.operator_name, Operator{&code->second, {}}).first->second;
}

std::size_t JudgeQueue::least_used_judge() const {
  std::vector<std::size_t> jobs;
  for (const Load& judge : judges_) jobs.push_back(judge.jobs);
  for (const Waiter& waiter : waiting_) ++jobs[waiter.of->code->home];
  std::size_t least = 0;
  for (std::size_t i = 1; i < judges_.size(); ++i) {
    if (std::tuple(jobs[i], judges_[i].codes) < std::tuple(jobs[least], judges_[least].codes))
      least = i;
  }
  return least;
}

/// Returns true if the judge may make inputs of the operator as soon as it is free.
bool JudgeQueue::may_start(const Operator& one, std::size_t judge) const {
  return one.known.contains(judge) || (!one.code->loading && loading_ < limits_.loaders);
}

/// Returns the ticket of the oldest job that waits for this judge and may start.
std::optional<std::uint64_t> JudgeQueue::next_at(std::size_t judge) const {
  for (const Waiter& waiter : waiting_) {
    if (waiter.of->code->home == judge && may_start(*waiter.of, judge)) return waiter.ticket;
  }
  return std::nullopt;
}

/// Among the judges that make no inputs and for which no job waits that may start, returns the
/// judge with the fewest jobs. The reason is that the outputs of a judge's jobs wait while the
/// judge makes inputs. With `known_only`, considers only judges that have loaded the operator.
std::optional<std::size_t> JudgeQueue::idle_judge(const Operator& one, bool known_only) const {
  std::optional<std::size_t> found;
  for (std::size_t i = 0; i < judges_.size(); ++i) {
    if (judges_[i].preparing || next_at(i) || !may_start(one, i)) continue;
    if (known_only && !one.known.contains(i)) continue;
    if (!found || judges_[i].jobs < judges_[*found].jobs) found = i;
  }
  return found;
}

Result<JudgeQueue::Turn> JudgeQueue::wait_for_judge(const Wanted& wanted,
                                                    const Deadline& deadline) {
  MutexLock lock(mutex_);
  Operator& one = find(wanted);
  const std::uint64_t mine = next_ticket_++;
  waiting_.push_back({mine, &one});
  changed_.notify_all();
  std::optional<std::size_t> judge;
  const auto home_is_free = [&]() ASSAY_REQUIRES(mutex_) {
    const std::size_t home = one.code->home;
    if (!judges_[home].preparing && next_at(home) == mine) judge = home;
    return judge.has_value();
  };
  const auto known_is_free = [&]() ASSAY_REQUIRES(mutex_) {
    if (!home_is_free()) judge = idle_judge(one, /*known_only=*/true);
    return judge.has_value();
  };
  const auto any_is_free = [&]() ASSAY_REQUIRES(mutex_) {
    if (!known_is_free()) judge = idle_judge(one, /*known_only=*/false);
    return judge.has_value();
  };
  const auto up_to = [&deadline](std::chrono::nanoseconds time) {
    const std::int64_t ms = std::chrono::ceil<std::chrono::milliseconds>(time).count();
    return Deadline::after_ms(std::min(ms, deadline.remaining_ms()), deadline.stop());
  };
  const std::chrono::nanoseconds loading_time = one.code->loading_time;
  if (!up_to(limits_.patience).wait(changed_, lock, home_is_free) &&
      !up_to(loading_time - limits_.patience).wait(changed_, lock, known_is_free))
    deadline.wait(changed_, lock, any_is_free);
  std::erase_if(waiting_, [mine](const Waiter& waiter) { return waiter.ticket == mine; });
  const bool loads = judge && begin_preparation(*judge, one);
  const bool is_long = loads || one.last_time > kLongTurn;
  // Wakes the waiting jobs, because the next one may now be able to use a judge.
  changed_.notify_all();
  if (judge) return Turn(*this, *judge, wanted.operator_name, loads, is_long);
  return deadline.cancelled() ? fail(ErrorCode::cancelled, "cancelled")
                              : fail(ErrorCode::resource_exhausted,
                                     "every judge of the GPU was busy for all of the time allowed");
}

bool JudgeQueue::wait_for_waiters(std::size_t count, const Deadline& deadline) const {
  MutexLock lock(mutex_);
  return deadline.wait(changed_, lock,
                       [&]() ASSAY_REQUIRES(mutex_) { return waiting_.size() == count; });
}

/// Returns true if the judge has to load the operator.
bool JudgeQueue::begin_preparation(std::size_t judge, Operator& one) {
  judges_[judge].preparing = true;
  ++judges_[judge].jobs;
  if (one.known.contains(judge)) return false;
  Code& code = *one.code;
  code.loading = true;
  ++loading_;
  --judges_[code.home].codes;
  code.home = judge;  // this judge compiles the kernels, so it is the home from now on
  ++judges_[judge].codes;
  return true;
}

void JudgeQueue::end_preparation(const Turn& turn, bool made) {
  const MutexLock lock(mutex_);
  judges_[turn.judge_].preparing = false;
  judges_[turn.judge_].load_begins = false;
  Operator& one = operators_.at(turn.operator_name_);
  one.last_time = turn.time_;
  if (turn.loads_) {
    --loading_;
    one.code->loading = false;
    one.code->loading_time = std::max(one.code->loading_time, turn.time_);
    if (made) one.known.insert(turn.judge_);
  }
  changed_.notify_all();
}

/// Waits with `deadline`, and returns its error if `ready` does not become true.
template <class Ready>
Status JudgeQueue::wait(MutexLock& lock, const Deadline& deadline, const Ready& ready) {
  if (deadline.wait(changed_, lock, ready)) return {};
  return deadline.cancelled() ? fail(ErrorCode::cancelled, "cancelled")
                              : fail(ErrorCode::resource_exhausted,
                                     "the judge was busy for all of the time allowed");
}

Status JudgeQueue::begin_load(const Turn& turn, const Deadline& deadline) {
  MutexLock lock(mutex_);
  Load& judge = judges_[turn.judge_];
  judge.load_begins = true;  // new reservations wait from now on, so the old ones come to an end
  return wait(lock, deadline,
              [&]() ASSAY_REQUIRES(mutex_) { return judges_[turn.judge_].reservations == 0; });
}

Status JudgeQueue::reserve(const Turn& turn, const Deadline& deadline) {
  MutexLock lock(mutex_);
  const bool is_its_own = turn.preparing_;
  Status free = wait(lock, deadline, [&]() ASSAY_REQUIRES(mutex_) {
    return is_its_own || !judges_[turn.judge_].load_begins;
  });
  if (free) ++judges_[turn.judge_].reservations;
  return free;
}

void JudgeQueue::end_reservation(std::size_t judge) {
  const MutexLock lock(mutex_);
  --judges_[judge].reservations;
  changed_.notify_all();
}

void JudgeQueue::leave(std::size_t judge) {
  const MutexLock lock(mutex_);
  --judges_[judge].jobs;
}

}  // namespace assay::sandbox
