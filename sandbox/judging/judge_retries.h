// JudgeRetries runs a job again if a judge could not do its part of the job, so that one operator's
// code does not spoil the jobs of others.
//
// - The judge's process ended while it worked for the job: the job runs again with a judge of its
//   own. If that judge ends too, the operator's code is the cause. The verdict is then
//   `reference_error`, and later jobs of this operator get a judge of their own at once, until one
//   of them is judged without trouble.
// - The judge's process was replaced, because another job had ended it: the job runs again.
// - The judge's process was ended because it still worked when another job was to be timed: the job
//   runs again, and after several attempts it has an error of Assay. The operator is not to blame.
// - The device had too little memory: memory is freed, and the job runs again, once, while no other
//   job has inputs in the device's memory.
//
//   JudgeRetries retries;
//   retries.execute(run, {.shared = by_any_judge, .alone = by_own_judge, .free_memory = [] {}});
//
// Thread-safe.
#pragma once

#include <functional>
#include <set>
#include <string>

#include "base/mutex.h"
#include "sandbox/job/job_execution.h"

namespace assay::sandbox {

class JudgeRetries {
 public:
  /// The number of times that a job runs with judges that other jobs use, if other jobs end them.
  static constexpr int kMostShared = 3;
  /// The number of times that a job runs with a judge of its own, if timed jobs end this judge.
  static constexpr int kMostAlone = 3;

  struct Ways {
    std::function<void()> shared;  // runs the job with a judge that other jobs use too
    std::function<void()> alone;   // runs the job with a judge of its own
    std::function<void()> free_memory;
  };

  /// Runs the job until no trouble of a judge is left that another attempt may avoid.
  void execute(JobExecution& run, const Ways& ways);

 private:
  bool ends_judges(const std::string& operator_key);
  void note(const std::string& operator_key, JobExecution& run);
  void forget(const std::string& operator_key);

  Mutex mutex_;
  // The operators whose code ended the judge of the last job that had a judge of its own, by folder
  // and revision.
  std::set<std::string> ending_ ASSAY_GUARDED_BY(mutex_);
};

}  // namespace assay::sandbox
