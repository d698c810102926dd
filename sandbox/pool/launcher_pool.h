// LauncherPool: launchers parked with their device context made, so that no submission waits for
// one; and the end of those that were used.
//
//   LauncherNursery launchers(config, spawner, 0);
//   Result<std::unique_ptr<LauncherClient>> launcher = launchers.take(deadline);
//   ...
//   launchers.discard(std::move(*launcher));         // never used again; returns at once
//
//   launcher = launchers.take_for_oracle(deadline); // the one that was kept, if there is one
//   launchers.keep(std::move(*launcher));           // for the next oracle
//
//   launcher = launchers.take_for_run("run_1", deadline);       // one that this run has used
//   before, if there is one launchers.keep_for_run("run_1", std::move(*launcher));      // for its
//   next test or profile
//
// Making a context keeps the driver busy for a fifth of a second, one at a time for the whole
// machine: so one launcher is started after the other, unless somebody waits. Whoever is being
// timed meanwhile loses a sample now and then, which no median shows, and his calls of the driver
// take a little longer (measurements/beside_starts.py has both). Oracles are ours: they need no
// context of their own each, which would be every other context of those who are graded. And what a
// run tests and profiles is its own affair: only a grade, which counts, gets a context that nothing
// else has been in. Thread-safe.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "base/result.h"
#include "sandbox/pool/launcher_client.h"

namespace assay::sandbox {

class LauncherPool {
 public:
  /// Of one that is kept, for oracles or for a run: some fifty graded submissions. Whatever a
  /// driver may leave behind ends with the context.
  static constexpr int kMostKeptLaunches = 1'000;

  /// Starts parking `config.parked_launchers` of them. `driver`: "cuda", or "fake" for tests.
  LauncherPool(const SandboxConfig& config, Spawner& spawner, int device,
               std::string driver = "cuda");
  ~LauncherPool();
  LauncherPool(const LauncherPool&) = delete;
  LauncherPool& operator=(const LauncherPool&) = delete;

  /// Waits until the first one is parked and tells the device's facts.
  Result<LauncherDevice> ready(const Deadline& deadline);
  /// One that nobody used. Each one that is taken must be retired, or kept.
  Result<std::unique_ptr<LauncherClient>> take(const Deadline& deadline);
  /// For plans of our own: one that has performed nothing else.
  Result<std::unique_ptr<LauncherClient>> take_for_oracle(const Deadline& deadline);
  /// Kills it; its context ends behind the caller.
  void discard(std::unique_ptr<LauncherClient> used);
  /// Of one that was taken for an oracle and did all that it was asked for. Retires it when one is
  /// kept already, or after kMostKeptLaunches.
  void keep(std::unique_ptr<LauncherClient> used);
  /// For a test or a profile of `run`: one that only plans of that run have been in, else a new
  /// one.
  Result<std::unique_ptr<LauncherClient>> take_for_run(const std::string& run,
                                                       const Deadline& deadline);
  /// Of one that was taken for `run` and is well. It ends after config.kept_launcher_ms that nobody
  /// asked for it, when more than config.kept_launchers are kept, the oldest first, or after
  /// kMostKeptLaunches.
  void keep_for_run(const std::string& run, std::unique_ptr<LauncherClient> used);
  /// Ends those that are kept for runs, whose memory somebody needs, and waits for that.
  Status end_those_of_runs(const Deadline& deadline);
  /// After a fault of the device: those that are parked or kept are not handed out any more. Each
  /// new one checks its device before it is ready.
  void invalidate_idle();
  /// Why no launcher of this device became ready, the last time that one was started; nothing while
  /// the device is well.
  std::optional<std::string> last_start_error() const;
  /// Facts of the device, once known.
  std::optional<LauncherDevice> device() const;

 private:
  void run();
  void start_one(std::unique_lock<std::mutex>& lock);
  // With mutex_ held:
  bool may_keep(const LauncherClient& used) const;
  void end_kept_for_runs(std::size_t most);
  void end_forgotten();
  bool failed_since(int before) const;
  bool wants_more() const;
  /// Waits until `done` (mutex_ held). Errors: cancelled, resource_exhausted.
  template <class Done>
  Status wait_until(std::unique_lock<std::mutex>& lock, const Deadline& deadline, Done done);

  const SandboxConfig config_;
  Spawner& spawner_;
  const int device_index_;
  const std::string driver_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::unique_ptr<LauncherClient>> parked_, retired_;
  std::unique_ptr<LauncherClient> kept_;
  struct OfRun {
    std::string run;
    std::unique_ptr<LauncherClient> launcher;
    std::chrono::steady_clock::time_point since;
  };
  std::deque<OfRun> of_runs_;  // the one that was used last is the last
  std::optional<LauncherDevice> device_;
  struct Failure {
    Error error;
    int attempt;
  };
  std::optional<Failure> failure_;  // of the last attempt; cleared by whoever comes next
  int attempts_ = 0;
  std::optional<std::string> sickness_;
  int in_use_ = 0, waiting_ = 0;
  int starting_ = 0, ending_ = 0;
  int faults_ = 0;  // how often the parked ones were given up
  bool stop_ = false;
  std::stop_source shutdown_;
  std::vector<std::thread> threads_;  // each starts or ends one launcher at a time
};

}  // namespace assay::sandbox
