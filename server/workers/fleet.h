// Fleet keeps the workers of one pool: it starts them, lends them to jobs, notices their loss, and
// ends those that are idle for long.
//
//   Fleet fleet(settings, revision, "/var/lib/assay/workers");
//   Result<Fleet::Lease> lease = fleet.take(stop, {});  // waits for a worker
//   if (!lease) return fail(lease.error());
//   Result<sandbox::Verdict> verdict = fleet.run(*lease, job, monitor);
//   const bool lost = !verdict && verdict.error().code == ErrorCode::unavailable;
//
// Threads: the keeper starts and ends workers; each worker has a reader, which receives its
// messages. Thread-safe. The fleet must outlive its leases.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/mutex.h"
#include "base/result.h"
#include "sandbox/job/device.h"
#include "sandbox/pool/process.h"
#include "server/workers/frame_inbox.h"
#include "server/workers/pool_settings.h"
#include "server/workers/run_homes.h"
#include "server/workers/waiting_jobs.h"
#include "server/workers/worker_messages.h"
#include "server/workers/worker_stream.h"

namespace assay::server {

/// A worker that sends nothing for this time is lost.
inline constexpr std::int64_t kSilenceMs = 4'500;

/// The most runs of which a pool remembers the worker of the last job.
inline constexpr std::size_t kMostHomes = 4'096;

/// What a worker that records needs to know of an order, and where its answers go.
struct RecordingErrand {
  const sandbox::Job& job;
  const JobTag& tag;
  FrameInbox& inbox;
  std::function<Status(sandbox::Frame)> answer;
};

/// What a fleet does now, and the sums of what it did.
struct FleetReport {
  std::string pool, role, records;
  std::int64_t starting = 0, idle = 0, busy = 0, draining = 0;
  std::int64_t quarantined = 0;                // machines
  std::int64_t waiting = 0;                    // jobs that wait for a worker
  std::int64_t starts = 0, failed_starts = 0;  // sums since the server's start
  std::int64_t losses = 0, late_messages = 0;
  // Why the last worker failed, was refused or was lost. Empty after a new worker got ready.
  std::string problem;
  std::string engine;             // the last words of a command that starts a worker; may be empty
  sandbox::DeviceClass hardware;  // of all workers; without a name before a worker with a GPU came
  // The numbers of workers whose sandboxes lack the same isolation layers, by their names.
  std::map<std::string, std::int64_t> missing_layers;
};

class Fleet {
  struct Seat;

 public:
  /// A worker that belongs to one job for a while.
  class Lease {
   public:
    Lease(Fleet& fleet, std::shared_ptr<Seat> seat, std::int64_t slots)
        : fleet_(&fleet), seat_(std::move(seat)), slots_(slots) {}
    Lease(Lease&& other) noexcept
        : fleet_(std::exchange(other.fleet_, nullptr)),
          seat_(std::move(other.seat_)),
          slots_(other.slots_) {}
    Lease& operator=(Lease&&) = delete;
    ~Lease() {
      if (fleet_ != nullptr) fleet_->give_back(*this);
    }
    /// Returns the worker's name: its pool, its number and its machine.
    const std::string& worker() const;
    const sandbox::DeviceInfo& device() const;

   private:
    friend class Fleet;
    Fleet* fleet_;
    std::shared_ptr<Seat> seat_;
    std::int64_t slots_;
  };

  /// What a job wants of its worker.
  struct Wish {
    bool alone = false;    // no other job meanwhile
    bool batch = false;    // nobody waits for it (Job::batch)
    std::string run = {};  // the worker of the run's last job is the best one
  };

  /// Starts `settings.least` workers in the background. `logs` is a folder for what the commands
  /// write to stderr.
  /// With role launch, `records` is the fleet that records, and outlives this one.
  Fleet(PoolSettings settings, WorkerRevision revision, std::string logs, Fleet* records = nullptr);
  ~Fleet();
  Fleet(const Fleet&) = delete;
  Fleet& operator=(const Fleet&) = delete;

  /// Waits for a worker with a free slot, first come, first served, except that up to kMostPasses
  /// jobs of waiting clients pass a batch job. With `alone`, the worker gets no other
  /// job meanwhile, and while one is emptied for this job, other jobs pass it (waiting_jobs.h).
  /// Errors: cancelled; unavailable if several starts in a row failed. The message is for the
  /// operator: it quotes the command and its output.
  Result<Lease> take(const std::stop_token& stop, const Wish& wish);
  /// Waits for a worker whose health check is due, and lends it alone. Error: cancelled.
  Result<Lease> take_due(const std::stop_token& stop);
  /// Runs the job on the worker. If the pool's role is launch, workers of `records` record it, and
  /// if `alone` is true, they record nothing else meanwhile. Errors: unavailable if a worker was
  /// lost, with a message for the operator; resource_exhausted if no worker of `records` starts;
  /// cancelled.
  Result<sandbox::Verdict> run(const Lease& lease, const sandbox::Job& job,
                               sandbox::JobMonitor& monitor, bool alone = false);
  /// Makes the worker do one order of `tag`: sends it the job and the order, and then every frame
  /// of `inbox` that comes from a worker that launches. Gives all other frames to `answer`, until
  /// the order is done. Frames about later orders stay in `inbox`. Errors: unavailable if the
  /// worker was lost; cancelled; corrupt if a frame has no number; those of `answer`.
  Status carry(const Lease& lease, const RecordingErrand& errand, sandbox::Frame order,
               const std::stop_token& stop);
  /// Notes that the worker's health check was right, so that the worker gets jobs.
  void accept(const Lease& lease);
  /// Notes that the worker's device failed a job. Its health check is due now, and the worker gets
  /// no job before it. Without health checks (`health_check_s` 0), the worker gets no job for
  /// `quarantine_s`, unless the devices of all workers that take jobs then have failed. Meanwhile
  /// it does not count as one of the workers that the pool needs, but as one of its `most`.
  void doubt(const Lease& lease);
  /// Ends the worker, and refuses workers on its machine for `quarantine_s`.
  void quarantine(const Lease& lease, const std::string& reason);

  FleetReport report() const;
  /// Returns the report without the words of the engine. Reads no file.
  FleetReport counts() const;
  /// Returns true if the engine stopped the worker: the worker drains, and this server did not ask
  /// for it.
  bool was_preempted(const Lease& lease) const;
  /// Returns what the engine does if no worker is ready, in words for clients. Reads no file.
  sandbox::EngineNote engine() const;
  const PoolSettings& settings() const { return settings_; }
  /// Returns the fleet that records for this one, or null.
  Fleet* records() const { return records_; }

 private:
  struct Call;
  struct Quarantine {
    std::string reason;
    std::int64_t until_ns;
  };

  void keep();
  /// Decides how many workers to start, and which worker drains. Returns the ended workers.
  struct Plan {
    std::int64_t starts = 0;
    std::shared_ptr<Seat> drain;
    std::vector<std::shared_ptr<Seat>> ended;
  };
  Plan plan() ASSAY_REQUIRES(mutex_);
  void wake_keeper() ASSAY_REQUIRES(mutex_);
  void start_worker();
  /// Receives the worker's messages until the worker has ended.
  void watch(Seat& seat);
  Status admit(Seat& seat, const WorkerHello& hello);
  /// Returns the target for which this pool records. The first worker of this pool, or of a pool
  /// for which it records, decides.
  std::string agreed_target(const std::string& target);
  Status dispatch(Seat& seat, sandbox::Frame frame);
  void lose(Seat& seat, const std::string& reason);
  void fail_start(const std::string& reason) ASSAY_REQUIRES(mutex_);
  /// Returns how many workers the pool needs for its jobs, waiting ones included.
  std::int64_t needed() const ASSAY_REQUIRES(mutex_);
  std::shared_ptr<Seat> pick(std::int64_t ticket, const std::string& run) ASSAY_REQUIRES(mutex_);
  bool none_can_come() const ASSAY_REQUIRES(mutex_);
  void give_back(const Lease& lease);
  Result<sandbox::Verdict> follow(Seat& seat, const JobTag& tag, Call& call,
                                  sandbox::JobMonitor& monitor);
  Result<sandbox::Verdict> send_and_follow(Seat& seat, const Message& message, const JobTag& tag,
                                           Call& call, sandbox::JobMonitor& monitor);
  void drain(Seat& seat);
  FleetReport counts(std::shared_ptr<Seat>* starting) const;

  const PoolSettings settings_;
  const WorkerRevision revision_;
  const std::string logs_;
  Fleet* const records_;
  sandbox::Spawner spawner_;
  std::stop_source stop_;
  mutable Mutex mutex_;
  Condition changed_;  // a worker or a slot came or went; take() waits for it
  Condition emptied_;  // a worker whose health check is due has no job; take_due() waits for it
  Condition keeper_wakes_;
  bool keeper_is_asked_ ASSAY_GUARDED_BY(mutex_) = false;  // to plan before its next look
  std::vector<std::shared_ptr<Seat>> seats_ ASSAY_GUARDED_BY(mutex_);
  WaitingJobs waiting_ ASSAY_GUARDED_BY(mutex_);  // the jobs of waiting take() calls
  RunHomes homes_ ASSAY_GUARDED_BY(mutex_){kMostHomes};
  std::int64_t next_number_ ASSAY_GUARDED_BY(mutex_) = 1;
  std::int64_t failures_in_row_ ASSAY_GUARDED_BY(mutex_) = 0;
  std::int64_t next_start_ns_ ASSAY_GUARDED_BY(mutex_) = 0;
  std::string target_ ASSAY_GUARDED_BY(mutex_);                        // for which the pool records
  std::optional<sandbox::DeviceInfo> class_ ASSAY_GUARDED_BY(mutex_);  // of the first worker
  std::map<std::string, Quarantine> quarantines_ ASSAY_GUARDED_BY(mutex_);  // by machine
  FleetReport sums_ ASSAY_GUARDED_BY(mutex_);
  std::jthread keeper_thread_;
};

}  // namespace assay::server
