// LauncherPool keeps launchers parked, with their device context made, so that no submission waits
// for one. It also ends the launchers that were used.
//
//   LauncherPool launchers(config, spawner, 0);
//   Result<std::unique_ptr<LauncherClient>> launcher = launchers.take(deadline);
//   launchers.discard(std::move(*launcher));  // ends it; returns at once
//
//   launcher = launchers.take_for_oracle(deadline);  // the kept one, if there is one
//   launchers.keep(std::move(*launcher));            // for the next reference
//
//   launcher = launchers.take_for_run("run_1", deadline);   // the run's kept one, if there is one
//   launchers.keep_for_run("run_1", std::move(*launcher));  // for its next test or profile
//
// A grade gets a launcher that has performed nothing else. Tests and profiles of one run may share
// a launcher, because they do not count for a score. References of operators are trusted and share
// one too; otherwise half of all contexts would be made for references.
//
// Starting a launcher keeps the driver of the whole machine busy for a fifth of a second. So the
// pool starts one launcher after the other, unless more callers wait. A start while another job is
// timed costs that job an occasional outlier, which the median hides, and slightly slower driver
// calls (measured in measurements/beside_starts.py).
//
// Thread-safe.
#pragma once

#include <cstddef>
#include <deque>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>
#include <variant>
#include <vector>

#include "base/mutex.h"
#include "base/result.h"
#include "sandbox/pool/launcher_client.h"

namespace assay::sandbox {

class LauncherPool {
 public:
  /// A kept launcher ends after this number of launches, about as many as fifty graded
  /// submissions need. What the driver leaves behind in a context ends with it.
  static constexpr int kMostKeptLaunches = 1'000;

  /// Starts to park `config.parked_launchers` launchers. `driver` is "cuda", or "fake" for tests.
  LauncherPool(const SandboxConfig& config, Spawner& spawner, int device,
               std::string driver = "cuda");
  ~LauncherPool();
  LauncherPool(const LauncherPool&) = delete;
  LauncherPool& operator=(const LauncherPool&) = delete;

  /// Waits until the first launcher is parked and returns what it reported: the facts of the device
  /// and the layers of its jail.
  Result<LauncherReady> ready(const Deadline& deadline);
  /// Returns an unused launcher. The caller discards or keeps each launcher that it takes.
  Result<std::unique_ptr<LauncherClient>> take(const Deadline& deadline);
  /// Returns a launcher that has performed nothing but references.
  Result<std::unique_ptr<LauncherClient>> take_for_oracle(const Deadline& deadline);
  /// Kills it and returns at once. A thread of the pool waits for the end of its context.
  void discard(std::unique_ptr<LauncherClient> used);
  /// Keeps a launcher of take_for_oracle() that works. Discards it if one is kept already, or after
  /// kMostKeptLaunches.
  void keep(std::unique_ptr<LauncherClient> used);
  /// Returns a launcher for a test or a profile of `run`. It has performed plans of this run only,
  /// or nothing.
  Result<std::unique_ptr<LauncherClient>> take_for_run(const std::string& run,
                                                       const Deadline& deadline);
  /// Keeps a launcher of take_for_run() that works. It ends after config.kept_launcher_ms without
  /// use, after kMostKeptLaunches, or as the oldest if more than config.kept_launchers are kept.
  void keep_for_run(const std::string& run, std::unique_ptr<LauncherClient> used);
  /// Ends the launchers that are kept for runs, to free their memory, and waits for their end.
  Status end_those_of_runs(const Deadline& deadline);
  /// Ends the launchers that are parked or kept. Call it after a fault of the device. Each new
  /// launcher checks its device before it is ready.
  void invalidate_idle();
  /// Returns the error of the last start, if it failed. Returns nothing while the device works.
  std::optional<std::string> last_start_error() const;
  /// Returns the facts of the device, if they are known.
  std::optional<DeviceFacts> device() const;

 private:
  struct Start {
    int attempt, faults_before;
  };
  struct End {
    std::deque<std::unique_ptr<LauncherClient>> launchers;
  };
  using Work = std::variant<Start, End>;
  struct KeptForRun {
    std::string run;
    std::unique_ptr<LauncherClient> launcher;
    std::int64_t since_ns;  // by the system's monotonic clock
  };
  struct Failure {
    Error error;
    int attempt;
  };

  void run();
  /// Waits until there is work. Returns nothing when the pool ends.
  std::optional<Work> next_work();
  void perform(Start start);
  void perform(End end);
  /// Waits until `done`. Errors: cancelled, resource_exhausted.
  template <class Done>
  Status wait_until(MutexLock& lock, const Deadline& deadline, Done done) ASSAY_REQUIRES(mutex_);
  bool may_keep(const LauncherClient& used) const ASSAY_REQUIRES(mutex_);
  void end_kept_for_runs(std::size_t most) ASSAY_REQUIRES(mutex_);
  void end_expired() ASSAY_REQUIRES(mutex_);
  bool failed_since(int before) const ASSAY_REQUIRES(mutex_);
  bool wants_more() const ASSAY_REQUIRES(mutex_);

  const SandboxConfig config_;
  Spawner& spawner_;
  const int device_index_;
  const std::string driver_;
  mutable Mutex mutex_;
  Condition changed_;
  std::deque<std::unique_ptr<LauncherClient>> parked_ ASSAY_GUARDED_BY(mutex_);
  std::deque<std::unique_ptr<LauncherClient>> retired_ ASSAY_GUARDED_BY(mutex_);  // killed
  std::unique_ptr<LauncherClient> kept_ ASSAY_GUARDED_BY(mutex_);                 // for references
  std::deque<KeptForRun> of_runs_ ASSAY_GUARDED_BY(mutex_);  // in order of their last use
  std::optional<LauncherReady> ready_ ASSAY_GUARDED_BY(mutex_);
  /// The failure of the last attempt. The next caller clears it.
  std::optional<Failure> failure_ ASSAY_GUARDED_BY(mutex_);
  /// The error of the last attempt. The next success clears it.
  std::optional<std::string> last_start_error_ ASSAY_GUARDED_BY(mutex_);
  int attempts_ ASSAY_GUARDED_BY(mutex_) = 0;  // number of starts that have begun
  int waiting_ ASSAY_GUARDED_BY(mutex_) = 0;   // number of callers of take() that wait
  int starting_ ASSAY_GUARDED_BY(mutex_) = 0;
  int ending_ ASSAY_GUARDED_BY(mutex_) = 0;
  int faults_ ASSAY_GUARDED_BY(mutex_) = 0;  // number of calls of invalidate_idle()
  std::stop_source shutdown_;
  std::vector<std::thread> threads_;  // each starts or ends one launcher at a time
};

}  // namespace assay::sandbox
