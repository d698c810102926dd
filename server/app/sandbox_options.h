// What `serve`, `eval` and `bench` let a user choose of the sandbox: how strict it is, the limits
// of every job, and how much of a machine one GPU takes.
//
//   auto options = std::make_shared<SandboxOptions>();
//   add_sandbox_options(*command, *options);
//   Result<sandbox::SandboxConfig> config = sandbox_config(*options, paths);   // once the command
//   line has been read, before the first device std::vector<std::string> command_line =
//   arguments_of(*options);            // or for another process: what is not as it is by default
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "base/result.h"
#include "sandbox/job/config.h"
#include "sandbox/job/job.h"
#include "server/app/paths.h"

namespace assay::server {

/// Several where the machine has cores for it: recording is compiling, on one core per candidate.
int default_recorders();
int default_gpu_sharers();
int default_gpu_jobs();
int default_judges();
inline constexpr int kMostGpuSharers = 16;
inline constexpr int kMostGpuJobs = 64;
inline constexpr int kMostJudges = 8;

struct SandboxOptions {
  std::string isolation = "best-effort";
  std::string without;     // layers to leave out; only in a build with mutations
  sandbox::Limits limits;  // of every job
  int recorders = default_recorders();
  int gpu_sharers = default_gpu_sharers();
  int gpu_jobs = default_gpu_jobs();
  int judges = default_judges();
  bool host_tier = true;
  std::string ncu = "auto";  // Nsight Compute: a path, "auto" or "none"
};

/// The parsed value of --isolation.
struct IsolationChoice {
  sandbox::Isolation isolation = sandbox::Isolation::best_effort;
  bool spawn = false;
};
/// Accepts "strict", "best-effort", "spawn", or one of the first two and "spawn" with a comma
/// between.
Result<IsolationChoice> isolation_from(const std::string& text);

/// The options that were added.
std::vector<CLI::Option*> add_sandbox_options(CLI::App& command, SandboxOptions& options);
/// As a command line: those that differ from the default.
std::vector<std::string> arguments_of(const SandboxOptions& options);
/// Leaves out what `without` names. Errors: invalid_argument, with what is valid.
Result<sandbox::SandboxConfig> sandbox_config(const SandboxOptions& options, const Paths& paths);

}  // namespace assay::server
