// VerdictWriter stores the verdicts of jobs, and tries again if the store fails.
//
//   VerdictWriter writer(store, clock);
//   const sandbox::Verdict shown = writer.store(job, std::move(verdict), stop);
//   show(shown);  // what callers may see
//
// A failed write, such as one on a full disk, is tried again a few times. If the verdict still
// cannot be stored, callers get an internal error in its place, which does not count against the
// job's run. The writer keeps this error and stores it before the next call of a run is checked, or
// with the next verdict that can be stored. If the process ends before, the store still has the job
// as unfinished, so the next server runs it. Thread-safe.
#pragma once

#include <chrono>
#include <map>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/mutex.h"
#include "sandbox/job/job.h"
#include "server/store/store.h"
#include "tools/model/services.h"

namespace assay::server {

/// Returns the state of a job that ended with this verdict.
tools::JobState end_state(const sandbox::Verdict& verdict);

class VerdictWriter {
 public:
  /// How often one verdict is written, and how long the writer waits between two attempts.
  struct Patience {
    int attempts = 4;
    std::chrono::milliseconds pause{200};
  };

  VerdictWriter(Store& store, const Clock& clock) : VerdictWriter(store, clock, Patience{}) {}
  VerdictWriter(Store& store, const Clock& clock, Patience patience)
      : store_(store), clock_(clock), patience_(patience) {}

  /// Stores the verdict, and returns the verdict that callers may see. A requested stop ends the
  /// attempts.
  sandbox::Verdict store(const sandbox::Job& job, sandbox::Verdict verdict,
                         const std::stop_token& stop);
  struct Judged {
    const sandbox::Job* job = nullptr;
    const sandbox::Verdict* verdict = nullptr;
  };
  /// Makes one attempt to store several verdicts, in one commit. Returns the verdicts that callers
  /// may see, in their order, and an error for each that could not be stored. Such a verdict does
  /// not disturb the others.
  std::vector<Result<sandbox::Verdict>> try_all(const std::vector<Judged>& judged);
  /// Ends the attempts to store the verdict of a job. `why` is the error of the last attempt.
  /// Returns the verdict that callers may see.
  sandbox::Verdict give_up(const sandbox::Job& job, const Error& why);
  const Patience& patience() const { return patience_; }
  struct Unstored {
    std::string run;
    sandbox::Verdict verdict;
  };
  /// Returns the verdict of a job whose verdict could not be stored yet.
  std::optional<Unstored> unstored(const std::string& job) const;
  /// Stores the verdicts that could not be stored before. So the calls of their jobs no longer
  /// count against the budgets of their runs.
  void write_unstored();

 private:
  Store& store_;
  const Clock& clock_;
  const Patience patience_;
  mutable Mutex mutex_;
  std::map<std::string, Unstored> unstored_ ASSAY_GUARDED_BY(mutex_);
};

}  // namespace assay::server
