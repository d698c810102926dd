// Defines ServicesFixture, which has the real services over a store in a temporary folder, with the
// fake device. Tests wait for events of the services, never until some time has passed:
//
//   ServicesFixture services;
//   services.wait_until_running(job);     // a worker has given the job to the device
//   services.clock.wait_for_looks(1);     // a waiting function of the services has read the clock
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <set>
#include <stdexcept>
#include <string>
#include <utility>

#include "base/clock.h"
#include "base/handle.h"
#include "base/mutex.h"
#include "sandbox/device/fake.h"
#include "server/runs/services.h"
#include "tests/tools/fixture.h"

namespace assay::testing {

/// The maximum time that a test waits for an event before it fails.
inline constexpr std::chrono::seconds kEventTimeout(20);

/// A manual clock that counts how often waiting functions read it.
class WatchedClock final : public Clock {
 public:
  std::int64_t monotonic_ns() const override { return manual_.monotonic_ns(); }
  std::int64_t unix_ms() const override { return manual_.unix_ms(); }
  bool wait_until(Condition& condition, MutexLock& lock, std::stop_token stop,
                  std::int64_t until_ns, const std::function<bool()>& ready) const override {
    return manual_.wait_until(condition, lock, std::move(stop), until_ns, [&] {
      count_look();
      return ready();
    });
  }
  void advance_ms(std::int64_t ms) { manual_.advance_ms(ms); }
  /// Waits until waiting functions have read the clock `more` times since this call began. Returns
  /// false if that takes longer than kEventTimeout, for example because no function waits.
  bool wait_for_looks(std::int64_t more) const {
    MutexLock lock(mutex_);
    const std::int64_t target = looks_ + more;
    return looked_.wait_for(lock, kEventTimeout,
                            [&]() ASSAY_REQUIRES(mutex_) { return looks_ >= target; });
  }

 private:
  void count_look() const {
    const MutexLock lock(mutex_);
    ++looks_;
    looked_.notify_all();
  }

  ManualClock manual_;
  mutable Mutex mutex_;
  mutable Condition looked_;
  mutable std::int64_t looks_ ASSAY_GUARDED_BY(mutex_) = 0;
};

/// The set of jobs that a device has begun.
class BegunJobs {
 public:
  void add(const std::string& job) {
    const MutexLock lock(mutex_);
    jobs_.insert(job);
    added_.notify_all();
  }
  void clear() {
    const MutexLock lock(mutex_);
    jobs_.clear();
  }
  bool wait_for(const std::string& job) {
    MutexLock lock(mutex_);
    return added_.wait_for(lock, kEventTimeout,
                           [&]() ASSAY_REQUIRES(mutex_) { return jobs_.contains(job); });
  }

 private:
  Mutex mutex_;
  Condition added_;
  std::set<std::string> jobs_ ASSAY_GUARDED_BY(mutex_);
};

/// Passes jobs on to another device, and notes each job that begins.
class WatchedDevice final : public sandbox::Device {
 public:
  WatchedDevice(std::unique_ptr<sandbox::Device> device, BegunJobs& begun)
      : device_(std::move(device)), begun_(begun) {}
  sandbox::DeviceInfo info() const override { return device_->info(); }
  sandbox::EngineNote engine() const override { return device_->engine(); }
  sandbox::Verdict execute(const sandbox::Job& job, sandbox::JobMonitor& monitor) override {
    begun_.add(job.id);
    return device_->execute(job, monitor);
  }

 private:
  const std::unique_ptr<sandbox::Device> device_;
  BegunJobs& begun_;
};

class ServicesFixture {
 public:
  explicit ServicesFixture(server::QueueLimits queue = {}, int concurrency = 2,
                           const server::StoreLimits& limits = {})
      : queue_(queue), concurrency_(concurrency), limits_(limits) {
    open();
  }

  server::ServerServices* operator->() { return services_.get(); }
  void close() { services_.reset(); }
  void open(const std::string& device = "fake") {
    open(device, sandbox::make_fake_device(concurrency_));
  }
  void open(const std::string& name, std::unique_ptr<sandbox::Device> device) {
    server::Devices devices;
    devices.emplace_back(name, std::move(device));
    open(std::move(devices));
  }
  void open(server::Devices devices) {
    begun_.clear();
    for (auto& [name, device] : devices)
      device = std::make_unique<WatchedDevice>(std::move(device), begun_);
    server::ServicesOptions options;
    options.queue = queue_;
    options.store = limits_;
    options.clock = &clock;
    auto opened = server::ServerServices::open(store_path(), *catalog, std::move(devices), options);
    if (!opened) throw std::runtime_error(opened.error().message);
    services_ = std::move(*opened);
  }
  /// Returns the services of this fixture in the form that the tools use.
  tools::Services tool_services() const {
    return {.catalog = *catalog,
            .runs = services_->runs(),
            .jobs = services_->jobs(),
            .artifacts = services_->artifacts()};
  }
  std::filesystem::path store_path() const { return folder_.path() / "assay.db"; }

  sandbox::Job job(const std::string& source, sandbox::JobKind kind = sandbox::JobKind::test,
                   const std::string& op = "vector_add") const {
    sandbox::Job job;
    job.kind = kind;
    job.operator_name = op;
    job.source = source;
    job.cases.resize(1);
    job.cases[0].id = "small";
    return job;
  }
  /// Charges the run and stores a job. No device gets the job.
  Status accept(const std::string& run, const std::string& op, sandbox::JobKind kind,
                const std::string& source) {
    sandbox::Job accepted = job(source, kind, op);
    accepted.id = new_handle("job");
    accepted.run = run;
    const Result<std::string> stored = services_->runs().accept({}, accepted, "fake");
    return stored ? Status() : fail(stored.error());
  }
  /// Stores a finished job that belongs to no run and has this artifact. Returns the artifact's
  /// handle.
  std::string artifact(sandbox::Artifact artifact) {
    sandbox::Job made = job("");
    made.id = new_handle("job");
    sandbox::Verdict verdict;
    verdict.artifacts = {std::move(artifact)};
    server::Store& store = services_->store();
    const std::int64_t now = clock.unix_ms();
    if (!store.accept(made, "fake", {}, now) ||
        !store.finish(made.id, tools::JobState::finished, std::move(verdict), false, now))
      throw std::runtime_error("the store refused an artifact");
    return store.list_artifacts(made.id)->at(0).first;
  }
  std::string start(tools::Track track, const std::string& suite = "all") {
    auto run = services_->runs().start(
        {}, {.agent = "tester", .model = "none", .track = track, .suite = suite});
    if (!run) throw std::runtime_error(run.error().message);
    return run->handle;
  }
  /// Waits until the device has begun the job.
  void wait_until_running(const std::string& job) {
    if (!begun_.wait_for(job)) throw std::runtime_error("job " + job + " did not begin");
  }
  /// Waits for the job's verdict.
  tools::JobStatus end_of(const std::string& handle) {
    auto status = services_->jobs().wait({}, handle, 20'000, nullptr);
    if (!status) throw std::runtime_error(status.error().message);
    if (!status->verdict) throw std::runtime_error("job " + handle + " did not end");
    return *status;
  }

  TemporaryCatalog catalog;
  WatchedClock clock;

 private:
  TemporaryFolder folder_;
  server::QueueLimits queue_;
  int concurrency_;
  server::StoreLimits limits_;
  BegunJobs begun_;
  std::unique_ptr<server::ServerServices> services_;
};

}  // namespace assay::testing
