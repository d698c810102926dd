// LauncherPool starts launchers and their device contexts in advance ("parks" them), so that no
// submission waits for a launcher to start. The pool also ends used launchers.
//
//   LauncherPool launchers(config, spawner, 0);
//   Result<std::unique_ptr<LauncherClient>> launcher = launchers.take(deadline);
//   launchers.discard(std::move(*launcher));  // ends the launcher, without waiting
//
//   launcher = launchers.take_for_oracle(operator_dir, deadline);  // takes the kept one, if any
//   launchers.keep(operator_dir, std::move(*launcher));            // keeps it for the next oracle
//
//   launcher = launchers.take_for_run("run_1", deadline);   // takes the run's launcher, if any
//   launchers.keep_for_run("run_1", std::move(*launcher));  // keeps it for the run's next job
//
// A grade gets a launcher that has performed no other plans. The tests and profiles of one run may
// share a launcher, because they do not count for a score, unless they share their inputs too.
// Oracles are trusted, so they share a launcher too. Without this sharing, half of all device
// contexts would be created for oracles. The oracles of an imported suite are code of others, so
// they share a launcher of their own: their device code could change what a launcher measures.
//
// Starting a launcher occupies the driver of the whole machine for a fifth of a second. So the pool
// starts one launcher after the other, and at most config.launcher_starts at a time if several
// callers are waiting. Only config.parked_launchers unused launchers wait for jobs. With
// config.spare_launchers, more of them wait after many were used, and they start only when no job
// uses a launcher, because a start delays the launches of other jobs. A launcher that is no longer
// needed is ended when none starts. A start disturbs a job that is being timed: an occasional
// sample is an outlier, and driver calls are slightly slower (measurements/beside_starts.py). So
// does the check of a launcher after a fault. The median hides the outliers.
//
// After a fault of the device, each launcher checks its context and the device again before it is
// handed out. This takes milliseconds, so a fault in one submission costs the other runs little.
//
// Thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <random>
#include <stop_token>
#include <string>
#include <thread>
#include <variant>
#include <vector>

#include "base/mutex.h"
#include "base/result.h"
#include "sandbox/pool/kept_contexts.h"
#include "sandbox/pool/launcher_client.h"
#include "sandbox/pool/launcher_demand.h"

namespace assay::sandbox {

class LauncherPool {
 public:
  /// The number of launches after which a kept launcher is ended, so that its context does not
  /// collect leftovers of the driver without limit. Fifty graded submissions need about as many
  /// launches.
  static constexpr int kMostKeptLaunches = 1'000;
  /// So many launchers may wait for their end while others start. If more wait, the oldest ends at
  /// once, because each has device memory.
  static constexpr std::size_t kMostRetired = 16;
  /// The time limit for a launcher that checks the device again.
  static constexpr std::int64_t kCheckMs = 5'000;

  /// Begins to start `config.parked_launchers` launchers. `driver` is "cuda", or "fake" for tests.
  LauncherPool(const SandboxConfig& config, Spawner& spawner, int device,
               std::string driver = "cuda");
  ~LauncherPool();
  LauncherPool(const LauncherPool&) = delete;
  LauncherPool& operator=(const LauncherPool&) = delete;

  /// Waits until the first launcher is ready, and returns what this launcher reported: the facts of
  /// the device and the isolation layers of the launcher's jail.
  Result<LauncherReady> ready(const Deadline& deadline);
  /// Returns an unused launcher. The caller must discard or keep every launcher that it takes.
  Result<std::unique_ptr<LauncherClient>> take(const Deadline& deadline);
  /// Returns a launcher for the oracle of the operator in this folder: an unused launcher, or a
  /// launcher that has performed only plans of trusted oracles, or only of those of the operator's
  /// imported suite.
  Result<std::unique_ptr<LauncherClient>> take_for_oracle(const std::string& operator_dir,
                                                          const Deadline& deadline);
  /// Kills the launcher and returns at once. A thread of the pool waits until the launcher has
  /// ended. Call this for a launcher that may still be working.
  void discard(std::unique_ptr<LauncherClient> used);
  /// Takes back a launcher that has answered and does nothing, and returns at once. The launcher
  /// stays alive until no launcher starts, or until more than kMostRetired wait for their end.
  void retire(std::unique_ptr<LauncherClient> used);
  /// Keeps a working launcher that came from take_for_oracle() for this operator. Retires the
  /// launcher instead if another launcher is already kept, or if this launcher has performed
  /// kMostKeptLaunches. A launcher of an imported suite is kept as one of a run is.
  void keep(const std::string& operator_dir, std::unique_ptr<LauncherClient> used);
  /// Returns a launcher for a test or a profile of `run`: an unused launcher, or a launcher that
  /// has performed only plans of `run`.
  Result<std::unique_ptr<LauncherClient>> take_for_run(const std::string& run,
                                                       const Deadline& deadline);
  /// Keeps a working launcher that came from take_for_run(). The pool ends the launcher when it was
  /// unused for config.kept_launcher_ms, or when it has performed kMostKeptLaunches. If more are
  /// kept than config.kept_launchers allows, the pool ends one of them at random. (If the pool
  /// ended the one that was unused for longest, then no run would find its launcher when the runs
  /// are a few more than the launchers and take turns.)
  void keep_for_run(const std::string& run, std::unique_ptr<LauncherClient> used);
  /// Ends the launchers that are kept for runs, and those that wait for jobs beyond
  /// config.parked_launchers, so that their device memory becomes free. Waits until these launchers
  /// have ended. For a while, fewer are kept (KeptContexts::note_shortage()).
  Status end_those_of_runs(const Deadline& deadline);
  /// Makes each launcher check the device again before it is handed out. Call this after a device
  /// fault. A launcher that fails its check ends.
  void invalidate_idle();
  /// Returns the error of the last start, if that start failed. Otherwise returns nothing.
  std::optional<std::string> last_start_error() const;
  /// Returns the number of launchers that wait for a job.
  std::int64_t parked() const;
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
    std::string run;  // or the folder of an imported suite, which is no handle of a run
    std::unique_ptr<LauncherClient> launcher;
    std::int64_t since_ns;  // the time of the last use, by the system's monotonic clock
  };
  struct Failure {
    Error error;
    int attempt;
    std::int64_t retry_ns;  // when the pool tries again, by the system's monotonic clock
  };

  void run();
  /// Waits until there is work. Returns nothing when the pool is destroyed.
  std::optional<Work> next_work();
  void perform(Start start);
  void perform(End end);
  /// Waits until `done` returns true. Errors: cancelled; resource_exhausted if the deadline passes.
  template <class Done>
  Status wait_until(MutexLock& lock, const Deadline& deadline, Done done) ASSAY_REQUIRES(mutex_);
  /// Returns the imported suite of the operator in this folder, or "" if its oracle is trusted.
  std::string imported_suite_of(const std::string& operator_dir) const;
  /// Takes an unused launcher, which may have checked the device before the last fault.
  Result<std::unique_ptr<LauncherClient>> take_unchecked(const Deadline& deadline);
  /// Returns true if the launcher has checked the device after the last fault. Otherwise makes it
  /// check the device. If it fails, discards it and all idle launchers that would have to check the
  /// device too, and returns false: new launchers find out whether the device works.
  bool is_trusted(std::unique_ptr<LauncherClient>& taken);
  void discard_unchecked();
  int faults() const;
  /// Returns the number of unused launchers that should wait for jobs now.
  std::size_t wanted_parked(std::int64_t now_ns) const ASSAY_REQUIRES(mutex_);
  void retire_spares() ASSAY_REQUIRES(mutex_);
  bool may_end() const ASSAY_REQUIRES(mutex_);
  bool wants_spare(std::int64_t now_ns) const ASSAY_REQUIRES(mutex_);
  std::optional<std::int64_t> next_expiry_ns() const ASSAY_REQUIRES(mutex_);
  std::size_t most_kept_for_runs() const ASSAY_REQUIRES(mutex_);
  void retire_kept_for_run(std::size_t position) ASSAY_REQUIRES(mutex_);
  void retire_oldest_kept_for_runs(std::size_t most) ASSAY_REQUIRES(mutex_);
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
  // Launchers that are to be ended, or that were killed but not yet reaped.
  std::deque<std::unique_ptr<LauncherClient>> retired_ ASSAY_GUARDED_BY(mutex_);
  // The launcher that is kept for trusted oracles.
  std::unique_ptr<LauncherClient> kept_ ASSAY_GUARDED_BY(mutex_);
  std::deque<KeptForRun> of_runs_ ASSAY_GUARDED_BY(mutex_);  // in the order of their last use
  std::optional<LauncherReady> ready_ ASSAY_GUARDED_BY(mutex_);
  /// The failure of the last attempt to start a launcher. The next call of take() or ready() clears
  /// it. Without such a call, a thread of the pool clears it after a pause and tries again.
  std::optional<Failure> failure_ ASSAY_GUARDED_BY(mutex_);
  /// The error of the last attempt to start a launcher. The next success clears it.
  std::optional<std::string> last_start_error_ ASSAY_GUARDED_BY(mutex_);
  std::minstd_rand random_ ASSAY_GUARDED_BY(mutex_);
  LauncherDemand demand_ ASSAY_GUARDED_BY(mutex_);
  KeptContexts kept_contexts_ ASSAY_GUARDED_BY(mutex_);
  int attempts_ ASSAY_GUARDED_BY(mutex_) = 0;  // number of starts that have begun
  int waiting_ ASSAY_GUARDED_BY(mutex_) = 0;   // number of calls of take() that are waiting
  int starting_ ASSAY_GUARDED_BY(mutex_) = 0;
  int ending_ ASSAY_GUARDED_BY(mutex_) = 0;
  int urgent_ ASSAY_GUARDED_BY(mutex_) = 0;  // number of calls of end_those_of_runs() that wait
  int faults_ ASSAY_GUARDED_BY(mutex_) = 0;  // number of calls of invalidate_idle()
  std::stop_source shutdown_;
  std::vector<std::thread> threads_;  // each starts or ends one launcher at a time
};

}  // namespace assay::sandbox
