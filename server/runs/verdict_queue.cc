#include "server/runs/verdict_queue.h"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <iterator>
#include <utility>

namespace assay::server {

VerdictQueue::VerdictQueue(VerdictWriter& writer, const Clock& clock, std::size_t most,
                           std::stop_token stop, Announce announce)
    : writer_(writer),
      clock_(clock),
      most_(most),
      stop_(std::move(stop)),
      announce_(std::move(announce)),
      thread_([this] { work(); }) {}

void VerdictQueue::push(std::shared_ptr<ActiveJob> job, sandbox::Verdict verdict) {
  {
    MutexLock lock(mutex_);
    ++callers_;  // others see it only while this caller waits
    taken_.wait(lock, stop_, [&]() ASSAY_REQUIRES(mutex_) { return waiting_.size() < most_; });
    --callers_;
    waiting_.push_back({std::move(job), std::move(verdict)});
  }
  arrived_.notify_one();
}

std::size_t VerdictQueue::callers_without_room() const {
  const MutexLock lock(mutex_);
  return callers_;
}

void VerdictQueue::work() {
  for (bool last = false; !last;) {
    last = stop_.stop_requested();  // if so, take() takes all
    std::vector<Waiting> together = take();
    taken_.notify_all();
    if (!together.empty()) store(std::move(together), last);
  }
}

std::vector<VerdictQueue::Waiting> VerdictQueue::take() {
  std::int64_t now_ns = clock_.monotonic_ns();
  const auto is_due = [&](const Waiting& one) { return one.due_ns <= now_ns; };
  MutexLock lock(mutex_);
  const auto any_due = [&]() ASSAY_REQUIRES(mutex_) {
    now_ns = clock_.monotonic_ns();
    return std::any_of(waiting_.begin(), waiting_.end(), is_due);
  };
  while (!stop_.stop_requested() && std::none_of(waiting_.begin(), waiting_.end(), is_due)) {
    if (waiting_.empty()) {
      arrived_.wait(lock, stop_, [&]() ASSAY_REQUIRES(mutex_) { return !waiting_.empty(); });
      continue;
    }
    const auto next = std::min_element(
        waiting_.begin(), waiting_.end(),
        [](const Waiting& one, const Waiting& other) { return one.due_ns < other.due_ns; });
    const std::int64_t until_ns = next->due_ns;
    // A wait that ends in time makes the verdict due, whatever a clock of a test shows then.
    if (!clock_.wait_until(arrived_, lock, stop_, until_ns, any_due)) now_ns = until_ns;
  }
  if (stop_.stop_requested()) return std::exchange(waiting_, {});
  const auto later = std::stable_partition(waiting_.begin(), waiting_.end(), is_due);
  std::vector<Waiting> due(std::make_move_iterator(waiting_.begin()),
                           std::make_move_iterator(later));
  waiting_.erase(waiting_.begin(), later);
  return due;
}

void VerdictQueue::store(std::vector<Waiting> together, bool last) {
  std::vector<VerdictWriter::Judged> judged;
  judged.reserve(together.size());
  for (const Waiting& one : together) judged.push_back({&one.job->job(), &one.verdict});
  std::vector<Result<sandbox::Verdict>> stored = writer_.try_all(judged);
  const VerdictWriter::Patience& patience = writer_.patience();
  for (std::size_t i = 0; i < together.size(); ++i) {
    Waiting& one = together[i];
    if (stored[i]) {
      announce_(*one.job, std::move(*stored[i]));
    } else if (last || ++one.attempts >= patience.attempts) {
      announce_(*one.job, writer_.give_up(one.job->job(), stored[i].error()));
    } else {
      one.due_ns = clock_.monotonic_ns() + std::chrono::nanoseconds(patience.pause).count();
      const MutexLock lock(mutex_);
      waiting_.push_back(std::move(one));
    }
  }
}

}  // namespace assay::server
