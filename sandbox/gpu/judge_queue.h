// JudgeQueue decides which judge makes the inputs of a job, and when. A judge answers one request
// at a time. When a judge makes inputs of an operator for the first time, this takes seconds,
// because PyTorch loads kernels and imported operators compile their own. So a job waits for a
// judge first, and only then takes GPU memory and the GPU lock. A job that waits for a judge
// therefore keeps no other job from the GPU.
//
// Each operator has a home: the judge that has loaded the operator and normally prepares its jobs.
// The home of a new operator is the judge that has the fewest jobs. Several operators may share
// code, such as the operators of one golden file. They have one home, because a judge keeps the
// kernels that it has compiled.
//
// The first job of an operator at a judge loads the operator. Only one judge at a time loads
// operators of one code: otherwise every judge would compile the same kernels at the same time, and
// an operator that compiles for a minute would keep all judges from all other operators. For the
// same reason, at most `loaders` judges load operators at a time; the other judges serve operators
// that they have loaded.
//
// If the home is still busy after `patience`, a free judge that has loaded the operator takes the
// job. If the job has waited for as long as the loading of its code has taken so far, any free
// judge takes it. So an operator that loads fast leaves a busy home soon, and an operator that
// loads slowly is rarely loaded twice.
//
// A judge that loads an operator answers no other request for up to minutes. Some operators make
// their inputs as slowly each time, and are treated in the same way (is_long). So a job that needs
// its judge while it holds the GPU lock reserves the judge first: it waits until the judge loads
// nothing, and no load begins there before the job ends the reservation. Otherwise a job would hold
// the lock for minutes, and all jobs that want the GPU in another mode would wait with it. A load
// begins (begin_load) when its job has the GPU memory that it needs. Jobs that wait for a judge may
// hold all of this memory, so a load that counted earlier could wait for them for ever.
//
//   JudgeQueue queue({.judges = 4, .loaders = 3});
//   Result<JudgeQueue::Turn> turn = queue.wait_for_judge({"softmax", ""}, deadline);
//   if (!turn) return fail(turn.error());
//   Result<PreparedJob> prepared = judges[turn->judge()]->prepare(job, deadline);
//   turn->add_time(std::chrono::seconds(2));  // the time for which the judge worked
//   if (turn->is_long()) turn->begin_load(deadline);  // after the job has reserved GPU memory
//   turn->reserve(deadline);  // no other load begins at this judge
//   turn->prepared(prepared.has_value());  // the next job may begin with its inputs
//   turn->end_reservation();  // after the judge has compared the outputs
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
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/mutex.h"
#include "base/result.h"
#include "sandbox/wire/deadline.h"

namespace assay::sandbox {

class JudgeQueue {
 public:
  /// The time for which a job waits at least for the home of its operator.
  static constexpr std::chrono::milliseconds kPatience{200};
  /// If a judge worked longer than this time in an operator's last turn, the next one may be long.
  static constexpr std::chrono::milliseconds kLongTurn{1'000};

  struct Limits {
    int judges = 1;
    int loaders = 1;  // maximum number of judges that load operators at a time
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
    Turn(JudgeQueue& owner, std::size_t judge, std::string operator_name, bool loads, bool is_long)
        : owner_(&owner),
          judge_(judge),
          operator_name_(std::move(operator_name)),
          loads_(loads),
          is_long_(is_long) {}
    Turn(Turn&& other) noexcept
        : owner_(std::exchange(other.owner_, nullptr)),
          judge_(other.judge_),
          operator_name_(std::move(other.operator_name_)),
          loads_(other.loads_),
          is_long_(other.is_long_),
          time_(other.time_),
          preparing_(std::exchange(other.preparing_, false)),
          reserves_(std::exchange(other.reserves_, false)) {}
    Turn& operator=(Turn&&) = delete;
    ~Turn();
    std::size_t judge() const { return judge_; }
    /// Returns true if the judge had not loaded the operator before this turn.
    bool loads() const { return loads_; }
    /// Returns true if the judge may work for long: it loads the operator, or the last turn of the
    /// operator was longer than kLongTurn. Then the turn also includes the first references,
    /// because the judge compiles kernels for them too.
    bool is_long() const { return is_long_; }
    /// Adds time for which the judge worked in this turn.
    void add_time(std::chrono::nanoseconds time) { time_ += time; }
    /// Says that the judge has made the inputs, or that it could not make them.
    void prepared(bool made);
    /// Waits until no job has a reservation of the judge. From then on nobody gets one until
    /// prepared(). Call this function once, if is_long() is true. Errors: as those of
    /// wait_for_judge().
    Status begin_load(const Deadline& deadline);
    /// Waits until the judge loads no operator for another job. From then on no load begins at the
    /// judge until end_reservation(). Does nothing if the turn has a reservation. Errors: as those
    /// of wait_for_judge().
    Status reserve(const Deadline& deadline);
    void end_reservation();

   private:
    friend class JudgeQueue;

    JudgeQueue* owner_;
    const std::size_t judge_;
    std::string operator_name_;
    const bool loads_, is_long_;
    std::chrono::nanoseconds time_{0};
    bool preparing_ = true;
    bool reserves_ = false;
  };

  explicit JudgeQueue(const Limits& limits)
      : limits_(limits), judges_(static_cast<std::size_t>(limits.judges)) {}

  /// Waits until a judge can make inputs for a job of this operator. Errors: cancelled if the job
  /// is cancelled; resource_exhausted if the deadline passes.
  Result<Turn> wait_for_judge(const Wanted& wanted, const Deadline& deadline);

  /// The number of judges.
  int judges() const { return limits_.judges; }

  /// Waits until exactly `count` calls of wait_for_judge() are waiting. Returns false if the
  /// deadline passes first. Tests use this function to put threads in a defined order.
  bool wait_for_waiters(std::size_t count, const Deadline& deadline) const;

 private:
  /// Code that one or more operators use.
  struct Code {
    std::size_t home = 0;
    bool loading = false;                      // a judge loads an operator of this code
    std::chrono::nanoseconds loading_time{0};  // the longest time that an operator took to load
  };
  struct Operator {
    Code* code = nullptr;                   // an element of codes_, which never removes elements
    std::set<std::size_t> known;            // the judges that have loaded it
    std::chrono::nanoseconds last_time{0};  // for which a judge worked in its last turn
  };
  struct Waiter {
    std::uint64_t ticket = 0;
    const Operator* of = nullptr;  // an element of operators_, which never removes elements
  };
  struct Load {
    std::size_t jobs = 0;   // number of turns
    std::size_t codes = 0;  // number of codes whose home this judge is
    int reservations = 0;
    bool preparing = false;
    bool load_begins = false;  // a job is in begin_load(), or it has begun its load
  };

  Operator& find(const Wanted& wanted) ASSAY_REQUIRES(mutex_);
  std::size_t least_used_judge() const ASSAY_REQUIRES(mutex_);
  bool may_start(const Operator& one, std::size_t judge) const ASSAY_REQUIRES(mutex_);
  std::optional<std::uint64_t> next_at(std::size_t judge) const ASSAY_REQUIRES(mutex_);
  std::optional<std::size_t> idle_judge(const Operator& one, bool known_only) const
      ASSAY_REQUIRES(mutex_);
  bool begin_preparation(std::size_t judge, Operator& one) ASSAY_REQUIRES(mutex_);
  void end_preparation(const Turn& turn, bool made);
  template <class Ready>
  Status wait(MutexLock& lock, const Deadline& deadline, const Ready& ready) ASSAY_REQUIRES(mutex_);
  Status begin_load(const Turn& turn, const Deadline& deadline);
  Status reserve(const Turn& turn, const Deadline& deadline);
  void end_reservation(std::size_t judge);
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
  int loading_ ASSAY_GUARDED_BY(mutex_) = 0;             // number of codes that are being loaded
};

}  // namespace assay::sandbox
