// Device: where jobs run. Implementations: cpu, cuda, fake (sandbox/device). `execute` is called
// from many threads; an implementation serialises what it must itself.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <string>

#include "sandbox/job/job.h"

namespace assay::sandbox {

/// The caller's side of a running job.
struct JobMonitor {
  std::function<void(Stage)> stage_changed;  // may be empty; called from the executing thread
  /// A case is through the current stage: so many of `total` are (0: unknown). As above.
  std::function<void(std::int64_t done, std::int64_t total)> case_done;
  std::atomic<bool> cancel{false};  // set from any thread; the job ends with ErrorKind::cancelled
};

struct DeviceInfo {
  std::string name;         // "cpu", "cuda:0", "fake"
  std::string description;  // "NVIDIA H200, 132 SMs, 139 GiB, driver 580.159"
  bool can_time = false;
  Tier best_tier = Tier::none;
  std::string default_target;  // what it compiles for: "cuda:90"
  int concurrency = 1;         // jobs it takes at once
};

class Device {
 public:
  virtual ~Device() = default;
  virtual DeviceInfo info() const = 0;
  /// Runs the job to its end, whatever the submission does, and never throws. Every failure is in
  /// the verdict.
  virtual Verdict execute(const Job& job, JobMonitor& monitor) = 0;
};

}  // namespace assay::sandbox
