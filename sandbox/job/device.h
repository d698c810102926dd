// Device is the interface of everything that runs jobs. The folder sandbox/device contains the
// implementations: cpu, cuda and fake.
//
//   JobMonitor monitor;
//   const Verdict verdict = device.execute(job, monitor);
//
// Thread-safe: many threads call execute() at the same time. If parts of a job must not run at the
// same time as parts of another job, the implementation serialises them.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "sandbox/jail/layer.h"
#include "sandbox/job/job.h"
#include "sandbox/wire/deadline.h"

namespace assay::sandbox {

/// What the engine that starts workers, such as Slurm, does for a job that waits for one.
enum class EngineState {
  none,       // the device has no engine, or the job does not wait for it
  pending,    // the engine has not started a worker yet
  failed,     // the last start failed; the next one follows
  preempted,  // the engine stopped the job's worker, so the job runs again
  lost,       // the job's worker or its machine was lost, so the job runs again
};
inline std::string_view to_string(EngineState state) {
  switch (state) {
    case EngineState::none: return "none";
    case EngineState::pending: return "pending";
    case EngineState::failed: return "failed";
    case EngineState::preempted: return "preempted";
    case EngineState::lost: return "lost";
  }
  return "none";
}

/// Returns a sentence for clients. It is fixed, because the command that starts a worker and its
/// output can contain names and secrets of the operator.
inline std::string_view sentence_of(EngineState state) {
  switch (state) {
    case EngineState::none: return "";
    case EngineState::pending:
      return "no worker is ready yet; the server waits for one that starts";
    case EngineState::failed:
      return "no worker is ready; the last one did not start or was lost, and the server starts "
             "another one";
    case EngineState::preempted:
      return "the engine stopped the worker of this job, so the job runs again";
    case EngineState::lost: return "the worker of this job was lost, so the job runs again";
  }
  return "";
}

struct EngineNote {
  EngineState state = EngineState::none;
  std::string said = {};  // one line: sentence_of(state), and what the server knows of the job

  bool operator==(const EngineNote&) const = default;
};

class Recorder;  // sandbox/record/recorder.h

/// The callbacks and the stop request of a running job.
struct JobMonitor {
  /// This function is called in the executing thread when the job enters a stage. May be empty.
  std::function<void(Stage)> stage_changed = nullptr;
  /// This function is called in the executing thread when `done` of `total` cases have completed
  /// the current stage. `total` is 0 if the number of cases is unknown. May be empty.
  std::function<void(std::int64_t done, std::int64_t total)> case_done = nullptr;
  /// This function is called in the executing thread when the job loses its worker. May be empty.
  std::function<void(const EngineNote&)> engine_changed = nullptr;
  /// A stop request ends the job with ErrorKind::cancelled. Every wait of the job observes it.
  std::stop_token stop = {};
  /// Records the submission and the oracle of the job elsewhere. Null: the device records itself.
  Recorder* recorder = nullptr;
};

/// The hardware of a GPU. Only GPUs of one class give times that can be compared.
struct DeviceClass {
  std::string name;               // "NVIDIA H200"; empty: the device is no GPU
  std::int64_t memory_bytes = 0;  // what the driver reports
  std::string driver;             // "580.159.03 (CUDA 13.0)"
  // The highest clock of the multiprocessors, and the bandwidth at the highest clock of the memory.
  // They do not change while the GPU works.
  std::int64_t clock_khz = 0;
  std::int64_t bandwidth_bytes_per_s = 0;

  bool operator==(const DeviceClass&) const = default;
};

struct DeviceInfo {
  std::string name;         // "cpu", "cuda:0", "fake"
  std::string description;  // "NVIDIA H200, 132 SMs, 139 GiB, driver 580.159"
  bool can_time = false;
  Tier best_tier = Tier::none;
  std::string default_target;  // target for which the device compiles by default: "cuda:90"
  int concurrency = 1;         // maximum number of jobs that the device accepts at a time
  DeviceClass hardware = {};
};

class Device {
 public:
  virtual ~Device() = default;
  virtual DeviceInfo info() const = 0;
  /// Waits until info() is complete. A device whose info() never changes returns at once. Errors:
  /// unavailable if the device does not start; resource_exhausted; cancelled.
  virtual Status wait_until_ready(const Deadline&) { return {}; }
  /// Waits until the device has jails, and returns their isolation layers. The layers of several
  /// jails are those of layers_of_both(). A device that runs no submissions has none. Errors as
  /// those of wait_until_ready().
  virtual Result<std::vector<LayerReport>> layers(const Deadline&) {
    return std::vector<LayerReport>{};
  }
  /// Returns how many processes the device has now, by kind: "parked_candidates" wait for a job,
  /// "candidates" have a job, "parked_launchers" wait for a job.
  virtual std::map<std::string, std::int64_t> processes() const { return {}; }
  /// Returns why a job that is queued now has to wait for a worker, or `none`.
  virtual EngineNote engine() const { return {}; }
  /// Runs the job to its end, whatever the submission does. The verdict contains every failure.
  /// Never throws.
  virtual Verdict execute(const Job& job, JobMonitor& monitor) = 0;
};

}  // namespace assay::sandbox
