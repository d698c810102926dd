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
// The first job of an operator loads it: other jobs of the operator wait until this job's inputs
// are made. Otherwise every judge would compile the same kernels at the same time, and an operator
// that compiles for a minute would keep all judges from all other operators. For the same reason,
// at most `loaders` judges load new operators at a time; the other judges serve known operators.
//
// Several operators may share code, such as the operators of one golden file. They have one home,
// because a judge keeps the kernels that it has compiled. They are loaded there one after the
// other, so that only the first one compiles the kernels.
//
//   JudgeQueue queue({.judges = 4, .loaders = 3});
//   Result<JudgeQueue::Turn> turn = queue.wait_for_judge({"softmax", ""}, deadline);
//   if (!turn) return fail(turn.error());
//   Result<PreparedJob> prepared = judges[turn->judge()]->prepare(job, deadline);
//   turn->prepared(prepared.has_value());  // the next job may begin with its inputs
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
    int loaders = 1;  // maximum number of judges that load new operators at a time
    std::chrono::milliseconds patience = kPatience;
  };

  struct Wanted {
    std::string operator_name;
    std::string shared_code;  // equal for operators that share code; empty: no other shares it
  };

  /// The right of one job to use the judge with index `judge()`. The judge makes inputs for no
  /// other job before prepared() is called. The turn counts as a job of the judge until it is
  /// destroyed.
  class Turn {
   public:
    Turn(JudgeQueue& owner, std::size_t judge, std::string operator_name)
        : owner_(&owner), judge_(judge), operator_name_(std::move(operator_name)) {}
    Turn(Turn&& other) noexcept
        : owner_(std::exchange(other.owner_, nullptr)),
          judge_(other.judge_),
          operator_name_(std::move(other.operator_name_)),
          preparing_(std::exchange(other.preparing_, false)) {}
    Turn& operator=(Turn&&) = delete;
    ~Turn();
    std::size_t judge() const { return judge_; }
    /// Says that the judge has made the inputs, or that it could not make them. The operator is
    /// known to the queue as soon as a judge has made its inputs once.
    void prepared(bool made);

   private:
    JudgeQueue* owner_;
    const std::size_t judge_;
    std::string operator_name_;
    bool preparing_ = true;
  };

  explicit JudgeQueue(const Limits& limits)
      : limits_(limits), judges_(static_cast<std::size_t>(limits.judges)) {}

  /// Waits until a judge can make inputs for a job of this operator. Errors: cancelled if the job
  /// is cancelled; resource_exhausted if the deadline passes.
  Result<Turn> wait_for_judge(const Wanted& wanted, const Deadline& deadline);

  /// Waits until exactly `count` calls of wait_for_judge() are waiting. Returns false if the
  /// deadline passes first. Tests use this function to put threads in a defined order.
  bool wait_for_waiters(std::size_t count, const Deadline& deadline) const;

 private:
  /// Code that one or more operators use.
  struct Code {
    std::size_t home = 0;
    bool loading = false;  // a judge loads an operator of this code
    bool loaded = false;   // the home has loaded an operator of this code
  };
  struct Operator {
    Code* code = nullptr;  // an element of codes_, which never removes elements
    bool known = false;    // a judge has made its inputs once
  };
  struct Waiter {
    std::uint64_t ticket = 0;
    const Operator* of = nullptr;  // an element of operators_, which never removes elements
  };
  struct Load {
    std::size_t jobs = 0;   // number of turns
    std::size_t codes = 0;  // number of codes whose home this judge is
    bool preparing = false;
  };

  Operator& find(const Wanted& wanted) ASSAY_REQUIRES(mutex_);
  std::size_t least_used_judge() const ASSAY_REQUIRES(mutex_);
  bool may_start(const Operator& one) const ASSAY_REQUIRES(mutex_);
  std::optional<std::uint64_t> next_at(std::size_t judge) const ASSAY_REQUIRES(mutex_);
  std::optional<std::size_t> idle_judge() const ASSAY_REQUIRES(mutex_);
  void begin_preparation(std::size_t judge, Operator& one) ASSAY_REQUIRES(mutex_);
  void end_preparation(std::size_t judge, const std::string& operator_name, bool made);
  void leave(std::size_t judge);

  const Limits limits_;
  mutable Mutex mutex_;
  mutable Condition changed_;
  std::uint64_t next_ticket_ ASSAY_GUARDED_BY(mutex_) = 0;
  std::vector<Load> judges_ ASSAY_GUARDED_BY(mutex_);
  // The key is {shared_code, ""}, or {"", operator_name} if no other operator shares the code.
  std::map<std::pair<std::string, std::string>, Code> codes_ ASSAY_GUARDED_BY(mutex_);
  std::map<std::string, Operator> operators_ ASSAY_GUARDED_BY(mutex_);
  std::deque<Waiter> waiting_ ASSAY_GUARDED_BY(mutex_);  // oldest first
  int loading_ ASSAY_GUARDED_BY(mutex_) = 0;  // number of codes that are being loaded
};

}  // namespace assay::sandbox
