#include "sandbox/gpu/judge_queue.h"

#include <algorithm>
#include <numeric>
#include <tuple>

namespace assay::sandbox {

JudgeQueue::Turn::~Turn() {
  prepared(false);
  if (owner_ != nullptr) owner_->leave(judge_);
}

void JudgeQueue::Turn::prepared(bool made) {
  if (std::exchange(preparing_, false)) owner_->end_preparation(judge_, operator_name_, made);
}

JudgeQueue::Operator& JudgeQueue::find(const std::string& operator_name) {
  const auto found = operators_.find(operator_name);
  if (found != operators_.end()) return found->second;
  const auto fewest =
      std::min_element(judges_.begin(), judges_.end(), [](const Load& a, const Load& b) {
        return std::tuple(a.jobs + a.waiting.size(), a.operators) <
               std::tuple(b.jobs + b.waiting.size(), b.operators);
      });
  ++fewest->operators;
  const auto home = static_cast<std::size_t>(fewest - judges_.begin());
  return operators_.emplace(operator_name, Operator{home}).first->second;
}

/// Returns true if a free judge may make inputs of the operator.
bool JudgeQueue::may_start(const Operator& one) const {
  return one.state == State::known || (one.state == State::unknown && loading_ < limits_.loaders);
}

/// Returns the ticket of the oldest job that waits for this judge and may start.
std::optional<std::uint64_t> JudgeQueue::next_at(const Load& judge) const {
  for (const Waiter& waiter : judge.waiting) {
    if (may_start(*waiter.of)) return waiter.ticket;
  }
  return std::nullopt;
}

/// Among the judges that make no inputs and for which no job waits that may start, returns the
/// judge with the fewest jobs. The reason is that the outputs of a judge's jobs wait while the
/// judge makes inputs.
std::optional<std::size_t> JudgeQueue::idle_judge() const {
  std::optional<std::size_t> found;
  for (std::size_t i = 0; i < judges_.size(); ++i) {
    if (judges_[i].preparing || next_at(judges_[i])) continue;
    if (!found || judges_[i].jobs < judges_[*found].jobs) found = i;
  }
  return found;
}

std::size_t JudgeQueue::waiters() const {
  return std::accumulate(judges_.begin(), judges_.end(), std::size_t{0},
                         [](std::size_t sum, const Load& one) { return sum + one.waiting.size(); });
}

Result<JudgeQueue::Turn> JudgeQueue::wait_for_judge(const std::string& operator_name,
                                                    const Deadline& deadline) {
  MutexLock lock(mutex_);
  Operator& wanted = find(operator_name);
  const std::size_t home = wanted.home;
  const std::uint64_t mine = next_ticket_++;
  judges_[home].waiting.push_back({mine, &wanted});
  changed_.notify_all();
  std::optional<std::size_t> judge;
  const auto home_is_free = [&]() ASSAY_REQUIRES(mutex_) {
    if (!judges_[home].preparing && next_at(judges_[home]) == mine) judge = home;
    return judge.has_value();
  };
  const auto any_is_free = [&]() ASSAY_REQUIRES(mutex_) {
    if (!home_is_free() && may_start(wanted)) judge = idle_judge();
    return judge.has_value();
  };
  const Deadline patience = Deadline::after_ms(
      std::min<std::int64_t>(limits_.patience.count(), deadline.remaining_ms()), deadline.stop());
  if (!patience.wait(changed_, lock, home_is_free)) deadline.wait(changed_, lock, any_is_free);
  std::erase_if(judges_[home].waiting,
                [mine](const Waiter& waiter) { return waiter.ticket == mine; });
  if (judge) {
    if (wanted.state == State::unknown) {
      wanted.state = State::loading;
      ++loading_;
    }
    judges_[*judge].preparing = true;
    ++judges_[*judge].jobs;
  }
  // Wakes the waiting jobs, because the next one may now be able to use a judge.
  changed_.notify_all();
  if (judge) return Turn(*this, *judge, operator_name);
  return deadline.cancelled() ? fail(ErrorCode::cancelled, "cancelled")
                              : fail(ErrorCode::resource_exhausted,
                                     "every judge of the GPU was busy for all of the time allowed");
}

bool JudgeQueue::wait_for_waiters(std::size_t count, const Deadline& deadline) const {
  MutexLock lock(mutex_);
  return deadline.wait(changed_, lock, [&]() ASSAY_REQUIRES(mutex_) { return waiters() == count; });
}

void JudgeQueue::end_preparation(std::size_t judge, const std::string& operator_name, bool made) {
  const MutexLock lock(mutex_);
  judges_[judge].preparing = false;
  Operator& one = operators_.at(operator_name);
  if (one.state == State::loading) {
    --loading_;
    one.state = made ? State::known : State::unknown;
  }
  changed_.notify_all();
}

void JudgeQueue::leave(std::size_t judge) {
  const MutexLock lock(mutex_);
  --judges_[judge].jobs;
}

}  // namespace assay::sandbox
