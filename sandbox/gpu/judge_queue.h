// JudgeQueue decides which judge makes the inputs of a job, and when. A judge answers one request
// at a time. When a judge makes inputs of an operator for the first time, this takes seconds,
// because PyTorch loads kernels and imported operators compile their own. So a job waits for a
// judge first, and only then takes GPU memory and the GPU lock. A job that waits for a judge
// therefore keeps no other job from the GPU.
//
// Each operator has a home: the judge that has loaded the operator and normally prepares its jobs.
// The home of a new operator is the judge that has the fewest jobs. If the home is still busy after
// `patience`, any free judge takes the job. So a slow operator delays the other operators of its
// home by at most `patience`, as long as any judge is free.
//
//   JudgeQueue queue({.judges = 4});
//   Result<JudgeQueue::Turn> turn = queue.wait_for_judge("softmax", deadline);
//   if (!turn) return fail(turn.error());
//   Result<PreparedJob> prepared = judges[turn->judge()]->prepare(job, deadline);
//   turn->prepared();  // the next job may begin with its inputs
//
// Jobs that wait for the same home are served in the order of their arrival. Thread-safe. The queue
// must outlive its turns.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/mutex.h"
#include "base/result.h"
#include "sandbox/wire/deadline.h"

namespace assay::sandbox {

class JudgeQueue {
 public:
  /// The time for which a job waits for the home of its operator. After this time any judge may
  /// take the job. The home has loaded the operator, so it makes most inputs faster than other
  /// judges.
  static constexpr std::chrono::milliseconds kPatience{200};

  struct Limits {
    int judges = 1;
    std::chrono::milliseconds patience = kPatience;
  };

  /// The right of one job to use the judge with index `judge()`. The judge makes inputs for no
  /// other job before prepared() is called. The turn counts as a job of the judge until it is
  /// destroyed.
  class Turn {
   public:
    Turn(JudgeQueue& owner, std::size_t judge) : owner_(&owner), judge_(judge) {}
    Turn(Turn&& other) noexcept
        : owner_(std::exchange(other.owner_, nullptr)),
          judge_(other.judge_),
          preparing_(std::exchange(other.preparing_, false)) {}
    Turn& operator=(Turn&&) = delete;
    ~Turn();
    std::size_t judge() const { return judge_; }
    void prepared();

   private:
    JudgeQueue* owner_;
    const std::size_t judge_;
    bool preparing_ = true;
  };

  explicit JudgeQueue(const Limits& limits)
      : limits_(limits), judges_(static_cast<std::size_t>(limits.judges)) {}

  /// Waits until a judge can make inputs for a job of this operator. Errors: cancelled if the job
  /// is cancelled; resource_exhausted if the deadline passes.
  Result<Turn> wait_for_judge(const std::string& operator_name, const Deadline& deadline);

  /// Waits until exactly `count` calls of wait_for_judge() are waiting. Returns false if the
  /// deadline passes first. Tests use this function to put threads in a defined order.
  bool wait_for_waiters(std::size_t count, const Deadline& deadline) const;

 private:
  struct Load {
    std::size_t jobs = 0;       // number of turns
    std::size_t operators = 0;  // number of operators whose home this judge is
    bool preparing = false;
    std::deque<std::uint64_t> waiting;  // tickets of the jobs that wait here, oldest first
  };

  std::size_t home_of(const std::string& operator_name) ASSAY_REQUIRES(mutex_);
  std::optional<std::size_t> idle_judge() const ASSAY_REQUIRES(mutex_);
  std::size_t waiters() const ASSAY_REQUIRES(mutex_);
  void end_preparation(std::size_t judge);
  void leave(std::size_t judge);

  const Limits limits_;
  mutable Mutex mutex_;
  mutable Condition changed_;
  std::uint64_t next_ticket_ ASSAY_GUARDED_BY(mutex_) = 0;
  std::vector<Load> judges_ ASSAY_GUARDED_BY(mutex_);
  std::map<std::string, std::size_t> homes_ ASSAY_GUARDED_BY(mutex_);
};

}  // namespace assay::sandbox
