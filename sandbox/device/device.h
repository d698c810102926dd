// Device: where jobs run. Implementations: cpu, cuda, fake (device/*.cc). Add a device by adding a file and a line in
// make_device(). `execute` is called from many threads; an implementation serialises what it must itself.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "sandbox/job.h"

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
  /// Runs the job to its end, whatever the submission does, and never throws. Every failure is in the verdict.
  virtual Verdict execute(const Job& job, JobMonitor& monitor) = 0;
};

enum class Isolation { strict, best_effort };

/// The GPU that the candidates of a pool may use, on the host tier.
struct GpuAccess {
  int index = 0;                     // of cuda:N
  int ordinal = 0;                   // what CUDA calls it where no jail hides the others
  std::vector<std::string> devices;  // its device files; none with the fake driver
};

struct SandboxConfig {
  std::string python;        // interpreter with torch and triton
  std::string harness_dir;   // sandbox/harness
  std::string launcher;      // assay-launcher
  std::string ncu = {};      // Nsight Compute's command line, for hardware counters; empty: there are none
  std::string jail_exec;     // assay-jail: builds the template jail, then execs the zygote
  std::string cuda_toolkit;  // folder with NVRTC and its headers, and no other; empty: it is looked for (harness/cuda_cpp/toolkit.py)
  std::string cuda_home;     // where it is looked for last
  std::string state_dir;     // writable; scratch and Triton cache live below
  Isolation isolation = Isolation::best_effort;
  bool spawn = false;                 // a Python process of its own for each candidate: seconds slower, for comparison
  Limits job_limits = {};             // of most jobs: candidates are parked with these, others are forked on demand
  bool host_tier = true;              // what cannot be recorded gets the GPU inside the jail, instead of an error
  std::optional<GpuAccess> gpu = {};  // of the host tier's pool
  int parked_candidates = 2;
  bool candidates_yield = false;           // where processors are short, to everybody else: of a GPU that is waited for, to its launchers and judges
  int gpu_jobs = 1;                        // jobs that one GPU device takes at once: most of a job needs processors, not the GPU
  int gpu_sharers = 1;                     // of them, those that have the GPU at once, while none is timed
  int judges = 1;                          // of one GPU: each has a context there, and the operators are dealt out among them
  int recorders = 1;                       // candidates that record the cases of one submission at once
  int parked_launchers = 3;                // each holds a GPU context: some hundred MB of device memory
  int kept_launchers = 16;                 // the same, of runs that have tested or profiled something and may again
  std::int64_t kept_launcher_ms = 60'000;  // after which one that nobody asked for ends
  std::int64_t zygote_ready_ms = 60'000;
};

/// `name`: "cpu", "cuda:N", "fake". Unknown names are errors that list the valid ones. Starts warming up at once and
/// returns without waiting for it.
Result<std::unique_ptr<Device>> make_device(const std::string& name, const SandboxConfig& config);

}  // namespace assay::sandbox
