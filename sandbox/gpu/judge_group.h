// JudgeGroup owns the judges that judge the operators of one suite on one device, and the describer
// of their cases.
//
// The judges start one after the other, so that the first one is ready soon: each start imports
// PyTorch, and several starts at a time slow each other down. A judge whose turn has not come
// starts when a job asks it for something. A describing judge starts at once.
//
//   JudgeGroup group({.limits = {.judges = 4, .loaders = 3}, .make = make_process});
//   Result<JudgeQueue::Turn> turn = group.queue.wait_for_judge({"softmax", ""}, deadline);
//   if (turn) group.judge(turn->judge()).prepare(job, deadline);
//
// A job whose operator ends its judge gets a judge of its own, so that it disturbs no other job:
//
//   Result<JudgeGroup::Alone> alone = group.judge_alone(deadline);
//   if (alone) alone->judge->prepare(job, deadline);  // the process ends with `alone`
//
// Thread-safe.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <thread>
#include <vector>

#include "base/mutex.h"
#include "base/result.h"
#include "sandbox/gpu/judge_queue.h"
#include "sandbox/pool/fifo_semaphore.h"
#include "sandbox/pool/judge.h"
#include "sandbox/record/case_describer.h"

namespace assay::sandbox {

class JudgeGroup {
 public:
  /// Makes the process of a judge. `number` distinguishes the processes of the group.
  using MakeProcess = std::function<std::unique_ptr<JudgeProcess>(int number)>;

  struct Options {
    JudgeQueue::Limits limits;
    MakeProcess make;
    /// Makes the process that describes cases. Without it, the first judge describes them.
    std::function<std::unique_ptr<JudgeProcess>()> make_describing = {};
    bool start = true;  // whether the judges start before a job asks for them
  };

  /// A judge for one job. It counts as a judge of the group until it is destroyed.
  struct Alone {
    FifoSemaphore::Slot slot;  // only one job at a time has a judge of its own
    std::shared_ptr<Judge> judge;
  };

  explicit JudgeGroup(const Options& options);
  ~JudgeGroup();
  JudgeGroup(const JudgeGroup&) = delete;
  JudgeGroup& operator=(const JudgeGroup&) = delete;

  /// The judge with this index. JudgeQueue::Turn::judge() returns an index.
  Judge& judge(std::size_t index) { return *judges_[index]; }
  CaseDescriber& describer() { return *describer_; }
  /// Waits until no other job has a judge of its own, makes one, and waits until it has started.
  /// The deadline does not limit the start, but a cancellation ends it. If the start fails, the
  /// first request starts the judge again. Errors: cancelled; resource_exhausted if the deadline
  /// passes.
  Result<Alone> judge_alone(const Deadline& deadline);
  /// Waits until no judge works on the device. Each judge gets all of the time that the deadline
  /// leaves at the call, so a judge that is silent takes no time from another one. A judge that
  /// does not end its work in this time is stopped. An ended process has no work on the device.
  /// Errors: cancelled.
  Status settle(const std::string& job, const Deadline& deadline);
  /// Makes all judges give device memory back that no job uses. Each judge has time as in settle().
  void free_memory(const Deadline& deadline);

  JudgeQueue queue;

 private:
  std::vector<std::shared_ptr<Judge>> all();

  const MakeProcess make_;
  std::vector<std::shared_ptr<Judge>> judges_;  // never changes after construction
  std::optional<Judge> describing_;
  std::optional<CaseDescriber> describer_;
  FifoSemaphore lonely_{1, "a judge of a single job was in use for all of the time allowed"};
  Mutex mutex_;
  std::weak_ptr<Judge> alone_ ASSAY_GUARDED_BY(mutex_);
  std::stop_source shutdown_;
  std::vector<std::thread> starters_;
};

}  // namespace assay::sandbox
