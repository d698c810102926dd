// The configuration of the sandbox's devices: programs and folders, isolation, and the number of
// processes of each kind.
//
//   SandboxConfig config;
//   config.python = "/usr/bin/python3";
//   config.gpu_sharers = 4;
//
// Plain structs.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sandbox/job/job.h"

namespace assay::sandbox {

enum class Isolation { strict, best_effort };

/// The GPU that the candidates of a pool may use on the host tier.
struct GpuAccess {
  int index = 0;                     // N of cuda:N
  int ordinal = 0;                   // CUDA's number for it in a process that sees all GPUs
  std::vector<std::string> devices;  // its device files; empty with the fake driver
};

struct SandboxConfig {
  std::string python;       // interpreter with torch and triton
  std::string harness_dir;  // sandbox/harness
  std::string launcher;     // assay-launcher
  std::string ncu = {};     // Nsight Compute's command line; empty: no hardware counters
  std::string jail_exec;    // assay-jail: builds the template jail, then execs the zygote
  /// The only folder in which to look for NVRTC and its headers. Empty: the harness searches
  /// (harness/cuda_cpp/toolkit.py), in cuda_home last.
  std::string cuda_toolkit;
  std::string cuda_home;
  std::string state_dir;  // writable; scratch files and Triton's cache are below it
  Isolation isolation = Isolation::best_effort;
  /// Starts a Python process for each candidate instead of forking the zygote. Seconds slower; for
  /// comparison.
  bool spawn = false;
  /// The limits of most jobs. Candidates are parked with them; a job with other limits forks its
  /// candidate when it needs one.
  Limits job_limits = {};
  /// Gives the GPU to a submission that cannot be recorded, inside the jail. False: such a
  /// submission is an error.
  bool host_tier = true;
  std::optional<GpuAccess> gpu = {};  // of the host tier's pool
  int parked_candidates = 2;
  /// Runs candidates at low CPU priority, so that they do not delay the launchers and judges of a
  /// GPU that has work.
  bool candidates_yield = false;
  /// Jobs that one GPU device accepts at a time. Most of a job needs processors and not the GPU.
  int gpu_jobs = 1;
  int gpu_sharers = 1;  // jobs that share the GPU at a time, while no job is timed
  /// Judges of one GPU. Each has a context on the GPU, and each operator is assigned to one judge.
  int judges = 1;
  int recorders = 1;         // candidates that record the cases of one submission at a time
  int parked_launchers = 3;  // each holds a GPU context: some hundred MB of device memory
  /// Launchers kept for runs that have tested or profiled a submission and may do so again.
  int kept_launchers = 16;
  std::int64_t kept_launcher_ms = 60'000;  // a kept launcher ends after this time without a job
  std::int64_t zygote_ready_ms = 60'000;
};

struct CudaOptions {
  int index = 0;
  std::string driver = "cuda";  // of the launcher; "fake" in tests
  std::string judge_device;     // empty for the same GPU; "cpu" in tests
};

}  // namespace assay::sandbox
