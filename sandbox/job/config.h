// Defines the configuration of the sandbox's devices: programs and folders, isolation, and the
// number of processes of each kind.
//
//   SandboxConfig config;
//   config.python = "/usr/bin/python3";
//   config.gpu_sharers = 4;
//
// Plain structs, and a function of their values.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sandbox/job/job.h"
#include "sandbox/job/target.h"

namespace assay::sandbox {

enum class Isolation { strict, best_effort };

/// The highest value of SandboxConfig::recorder_cores.
inline constexpr int kMostRecorderCores = 4096;
/// The highest value of SandboxConfig::recording_jobs.
inline constexpr int kMostRecordingJobs = 64;

/// The default and the highest value of SandboxConfig::host_case_bytes.
inline constexpr std::int64_t kHostCaseBytes = 256 << 10, kMostHostCaseBytes = 1 << 30;

/// The last part of error messages. It tells how to install NVIDIA Compute Sanitizer.
inline constexpr const char* kSanitizerInstallation =
    "install it with `.venv/bin/python -m pip install nvidia-cuda-sanitizer-api`, or with the CUDA "
    "toolkit; `--sanitizer` names a program elsewhere (docs/how-to/find-races.md)";

/// The GPU that the candidates of a pool may use on the host tier.
struct GpuAccess {
  int index = 0;                     // N of cuda:N
  int ordinal = 0;                   // CUDA's number for this GPU in a process that sees all GPUs
  std::vector<std::string> devices;  // the GPU's device files; empty with the fake driver
};

/// The maximum number of SandboxConfig::imported_suites.
inline constexpr int kMostImportedSuites = 12;

/// Returns true if the folder of an operator is the suite's folder, or inside of it.
inline bool is_in_suite(const std::string& operator_dir, const std::string& suite) {
  return operator_dir == suite || operator_dir.starts_with(suite + "/");
}

struct SandboxConfig {
  std::string python;       // interpreter with torch and triton
  std::string harness_dir;  // sandbox/harness
  std::string launcher;     // path of the program assay-launcher
  // Path of Nsight Compute; if it is empty, there are no hardware counters.
  std::string ncu = {};
  // Path of AMD's rocprofv3; if it is empty, there are no hardware counters on AMD's GPUs.
  std::string rocprof = {};
  // Path of NVIDIA Compute Sanitizer; if it is empty, there is no sanitizer.
  std::string sanitizer = {};
  /// If true, each case of a grade is replayed under the sanitizer, and a finding fails the grade.
  bool sanitize = false;
  std::int64_t sanitize_wall_ms = 120'000;  // time limit of one tool of the sanitizer for one case
  // Path of assay-jail, which builds the zygote's jail and then executes the zygote.
  std::string jail_exec;
  /// The only folder that is searched for NVRTC and its headers. If it is empty, the harness
  /// searches several folders (harness/cuda_cpp/toolkit.py), with cuda_home last.
  std::string cuda_toolkit;
  std::string cuda_home;
  std::string state_dir;  // a writable folder for temporary files and Triton's cache
  Isolation isolation = Isolation::best_effort;
  /// If true, each candidate is a new Python process instead of a fork of the zygote. This takes
  /// seconds longer and serves only for comparison.
  bool spawn = false;
  /// The limits that most jobs have. Candidates are forked in advance with these limits. If a job
  /// has different limits, a candidate is forked for it when it starts.
  Limits job_limits = {};
  /// The target for which a device without a GPU compiles, if a job names none: one of kTargets
  /// (sandbox/job/target.h).
  std::string compile_target = std::string(kDefaultTarget);
  /// If false, a GPU's device has no candidates for submissions, so JobMonitor::recorder must
  /// record each of its jobs. A submission that needs the host tier is then `not_recordable`.
  bool records = true;
  /// If true, a submission that cannot be recorded gets the GPU inside its jail. If false, such a
  /// submission is an error.
  bool host_tier = true;
  /// If true, a device may run the device code of submissions outside of every jail, as the device
  /// `emulated` does. If false, make_device() refuses such a device.
  bool allow_unjailed = false;
  /// The folders of suites with imported operators. Their references are code of others, so each of
  /// these suites has judges of its own, and they run in a jail (sandbox/pool/jailed_judge.h).
  std::vector<std::string> imported_suites = {};
  /// The folder of the suite that the judges of a pool can read, and the slots of this pool among
  /// CandidatePool::kJudgeSlots. They are set only in the configuration of a pool of jailed judges.
  std::string judged_suite = {};
  int first_judge_slot = 0, judge_slots = 0;
  std::optional<GpuAccess> gpu = {};  // set only in the configuration of the host tier's pool
  int parked_candidates = 2;
  /// If true, candidates run at low CPU priority, so that they do not delay the launchers and the
  /// judges of a GPU.
  bool candidates_yield = false;
  /// The maximum number of jobs that one GPU device accepts at a time. Of these jobs, at most
  /// `recording_jobs` compile, and at most `gpu_sharers` use the GPU. The other jobs wait.
  int gpu_jobs = 1;
  /// The maximum number of jobs of one GPU whose candidates import, compile or record at a time.
  /// The limit keeps compilations from competing for the CPU cores. A job that waits for a judge
  /// does not count.
  int recording_jobs = kMostRecordingJobs;
  /// The inputs and outputs of a case of at most this many bytes go through memory files of the
  /// host, so that no launcher has to map device memory of the judge for them. 0: those of every
  /// case that can be shared go through device memory.
  std::int64_t host_case_bytes = kHostCaseBytes;
  // The maximum number of jobs that share the GPU at a time while no job is timed.
  int gpu_sharers = 1;
  /// The number of judge processes of one GPU. Each judge has its own GPU context. JudgeQueue
  /// (sandbox/gpu/judge_queue.h) assigns jobs to judges.
  int judges = 1;
  int recorders = 1;  // maximum number of candidates that record one submission in parallel
  /// The processors that the candidates of one device share while they import and compile. A
  /// submission gets fewer candidates than `recorders` if each could not have a processor of its
  /// own.
  int recorder_cores = kMostRecorderCores;
  // The number of launchers that always wait for jobs. Each has a GPU context, which takes several
  // hundred MB of device memory.
  int parked_launchers = 3;
  /// The maximum number of launchers that wait for jobs while there is demand: twice as many as
  /// were used within spare_launcher_ms. 0: only parked_launchers. That is the default, because on
  /// a machine with several GPUs more launchers gave fewer verdicts
  /// (docs/explanation/performance.md).
  int spare_launchers = 0;
  std::int64_t spare_launcher_ms = 300'000;
  /// More than parked_launchers are started only after no job has taken or returned a launcher for
  /// this time, because a start delays the launches of jobs.
  std::int64_t spare_quiet_ms = 1'000;
  /// The maximum number of launchers of one GPU that start at a time. The driver creates one
  /// context after the other, and each start that waits in the driver delays the launches of other
  /// jobs.
  int launcher_starts = 3;
  /// The maximum number of launchers that are kept for runs. After a run has tested or profiled a
  /// submission, its launcher is kept, because the run may test or profile again. Without a value,
  /// KeptContexts limits the memory of their contexts (sandbox/pool/kept_contexts.h).
  std::optional<int> kept_launchers = {};
  // A kept launcher is ended when it was unused for this time.
  std::int64_t kept_launcher_ms = 600'000;
  std::int64_t zygote_ready_ms = 60'000;
};

struct CudaOptions {
  int index = 0;
  std::string driver = "cuda";  // the launcher's driver: "cuda", "hip", "emulated" or "fake"
  // The judge's device. It is empty for the same GPU, "cpu" in tests and for an emulator, and
  // "cuda:0" in the tests of HIP over CUDA.
  std::string judge_device;
};

}  // namespace assay::sandbox
