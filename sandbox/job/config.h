// Defines the configuration of the sandbox's devices: programs and folders, isolation, and the
// number of processes of each kind.
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
  int ordinal = 0;                   // CUDA's number for this GPU in a process that sees all GPUs
  std::vector<std::string> devices;  // the GPU's device files; empty with the fake driver
};

struct SandboxConfig {
  std::string python;       // interpreter with torch and triton
  std::string harness_dir;  // sandbox/harness
  std::string launcher;     // assay-launcher
  std::string ncu = {};     // path of Nsight Compute; empty if there are no hardware counters
  std::string jail_exec;    // assay-jail: builds the template jail, then execs the zygote
  /// The only folder in which to look for NVRTC and its headers. If it is empty, the harness
  /// searches several folders (harness/cuda_cpp/toolkit.py), and cuda_home last.
  std::string cuda_toolkit;
  std::string cuda_home;
  std::string state_dir;  // a writable folder for scratch files and Triton's cache
  Isolation isolation = Isolation::best_effort;
  /// If true, each candidate is a new Python process and is not forked from the zygote. This is
  /// seconds slower, and only for comparison.
  bool spawn = false;
  /// The limits that most jobs have. Parked candidates have these limits. For a job with other
  /// limits, a candidate is forked when the job needs it.
  Limits job_limits = {};
  /// If true, a submission that cannot be recorded gets the GPU inside its jail. If false, such a
  /// submission is an error.
  bool host_tier = true;
  std::optional<GpuAccess> gpu = {};  // set only in the configuration of the host tier's pool
  int parked_candidates = 2;
  /// Runs candidates at low CPU priority, so that they do not delay the launchers and judges of a
  /// GPU that has work.
  bool candidates_yield = false;
  /// The maximum number of jobs that one GPU device accepts at a time. Most of a job's time needs
  /// processors and not the GPU.
  int gpu_jobs = 1;
  // maximum number of jobs that share the GPU at a time, while no job is timed
  int gpu_sharers = 1;
  /// The number of judge processes of one GPU. Each has its own GPU context, and each operator is
  /// assigned to one judge.
  int judges = 1;
  int recorders = 1;         // maximum number of candidates that record one submission at a time
  int parked_launchers = 3;  // each has a GPU context, which takes some hundred MB of device memory
  /// The maximum number of launchers that are kept for runs. Such a run has tested or profiled a
  /// submission and may do so again.
  int kept_launchers = 16;
  std::int64_t kept_launcher_ms = 60'000;  // a kept launcher ends after this time without a job
  std::int64_t zygote_ready_ms = 60'000;
};

struct CudaOptions {
  int index = 0;
  std::string driver = "cuda";  // the launcher's driver; "fake" in tests
  std::string judge_device;     // the judge's device; empty for the same GPU; "cpu" in tests
};

}  // namespace assay::sandbox
