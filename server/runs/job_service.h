// Jobs over the store: durable queues, one per device, whose workers run Device::execute and
// persist each verdict before anybody hears of it. Runs take turns (fair_queue.h). Thread-safe. The
// store, the runs and the clock must outlive it.
//
//   auto job = jobs.submit(std::move(job), run, "");                  // "": the first device
//   auto status = jobs.wait(*job, 20'000, nullptr);                   // status->verdict once it is
//   over
//
// Destruction cancels what runs and leaves it unfinished in the store; recover() of the next
// process takes it up.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "sandbox/job/device.h"
#include "server/runs/fair_queue.h"
#include "server/runs/run_service.h"
#include "server/store/store.h"
#include "tools/model/services.h"

namespace assay::server {

/// By name; the first is the default.
using Devices = std::vector<std::pair<std::string, std::unique_ptr<sandbox::Device>>>;

struct QueueLimits {
  std::size_t queued_per_device = 256;  // waiting, not counting those that run
  std::int64_t attempts = 3;            // restarts that take a job up again before it is aborted
  std::int64_t max_wait_ms = 60'000;    // of one wait()
};

struct Recovered {
  std::int64_t requeued = 0;
  std::int64_t aborted = 0;
};

class StoredJobs final : public tools::JobService {
 public:
  StoredJobs(Store& store, StoredRuns& runs, const Clock& clock, Devices devices,
             const QueueLimits& limits);
  ~StoredJobs() override;
  StoredJobs(const StoredJobs&) = delete;
  StoredJobs& operator=(const StoredJobs&) = delete;

  Result<std::string> submit(sandbox::Job job, const std::string& run,
                             const std::string& device) override;
  Result<tools::JobStatus> wait(
      const std::string& job, std::int64_t wait_ms,
      const std::function<void(const tools::JobStatus&)>& progress) override;
  Status cancel(const std::string& job) override;
  std::vector<std::string> devices() const override;

  struct Load {
    std::string device;
    std::int64_t queued = 0, running = 0;
  };
  /// What waits and what runs on each device, now.
  std::vector<Load> load() const;

  /// Once, before the first submit. See Backend::recover.
  Result<Recovered> recover();

 private:
  struct Live;  // a job that is queued or runs
  struct Lane;  // a device, its queue and its workers

  void work(Lane& lane);
  void execute(Lane& lane, const std::shared_ptr<Live>& live);
  void finish(const std::shared_ptr<Live>& live, sandbox::Verdict verdict);
  Lane* lane_of(const std::string& device);
  void enqueue(Lane& lane, const std::shared_ptr<Live>& live);  // mutex_ held
  tools::JobStatus status_of(const Live& live) const;           // mutex_ held
  std::shared_ptr<Live> live(const std::string& job) const;

  Store& store_;
  StoredRuns& runs_;
  const Clock& clock_;
  const QueueLimits limits_;
  std::vector<std::unique_ptr<Lane>> lanes_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;  // a job entered another stage or state, or work arrived
  std::map<std::string, std::shared_ptr<Live>> live_;
  bool stopping_ = false;
  std::vector<std::thread> workers_;  // started last
};

}  // namespace assay::server
