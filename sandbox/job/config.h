// How the sandbox's devices are set up: programs and folders, isolation, and how many of each
// process there are.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sandbox/job/job.h"

namespace assay::sandbox {

enum class Isolation { strict, best_effort };

/// The GPU that the candidates of a pool may use, on the host tier.
struct GpuAccess {
  int index = 0;                     // of cuda:N
  int ordinal = 0;                   // what CUDA calls it where no jail hides the others
  std::vector<std::string> devices;  // its device files; none with the fake driver
};

struct SandboxConfig {
  std::string python;       // interpreter with torch and triton
  std::string harness_dir;  // sandbox/harness
  std::string launcher;     // assay-launcher
  std::string ncu =
      {};  // Nsight Compute's command line, for hardware counters; empty: there are none
  std::string jail_exec;     // assay-jail: builds the template jail, then execs the zygote
  std::string cuda_toolkit;  // folder with NVRTC and its headers, and no other; empty: it is looked
                             // for (harness/cuda_cpp/toolkit.py)
  std::string cuda_home;     // where it is looked for last
  std::string state_dir;     // writable; scratch and Triton cache live below
  Isolation isolation = Isolation::best_effort;
  bool spawn =
      false;  // a Python process of its own for each candidate: seconds slower, for comparison
  Limits job_limits =
      {};  // of most jobs: candidates are parked with these, others are forked on demand
  bool host_tier =
      true;  // what cannot be recorded gets the GPU inside the jail, instead of an error
  std::optional<GpuAccess> gpu = {};  // of the host tier's pool
  int parked_candidates = 2;
  bool candidates_yield = false;  // where processors are short, to everybody else: of a GPU that is
                                  // waited for, to its launchers and judges
  int gpu_jobs =
      1;  // jobs that one GPU device takes at once: most of a job needs processors, not the GPU
  int gpu_sharers = 1;  // of them, those that have the GPU at once, while none is timed
  int judges =
      1;  // of one GPU: each has a context there, and the operators are dealt out among them
  int recorders = 1;         // candidates that record the cases of one submission at once
  int parked_launchers = 3;  // each holds a GPU context: some hundred MB of device memory
  int kept_launchers =
      16;  // the same, of runs that have tested or profiled something and may again
  std::int64_t kept_launcher_ms = 60'000;  // after which one that nobody asked for ends
  std::int64_t zygote_ready_ms = 60'000;
};

struct CudaOptions {
  int index = 0;
  std::string driver = "cuda";  // of the launcher; "fake" in tests
  std::string judge_device;     // empty: the same GPU; "cpu" in tests
};

}  // namespace assay::sandbox
