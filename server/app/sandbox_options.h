// The sandbox options of `serve`, `eval` and `bench`: its strictness, the limits of every job, and
// a GPU's share of the machine.
//
//   auto options = std::make_shared<SandboxOptions>();
//   add_sandbox_options(*command, *options);
//   // After the command line is parsed, before the first device:
//   Result<sandbox::SandboxConfig> config = sandbox_config(*options, paths);
//   std::vector<std::string> arguments = arguments_of(*options);      // for a child process
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "base/result.h"
#include "sandbox/job/config.h"
#include "sandbox/job/job.h"
#include "server/app/workspace.h"

namespace assay::server {

/// Depends on the cores: recording compiles, on one core per candidate.
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

/// Returns the added options.
std::vector<CLI::Option*> add_sandbox_options(CLI::App& command, SandboxOptions& options);
/// The options that differ from their defaults, as command-line arguments.
std::vector<std::string> arguments_of(const SandboxOptions& options);
/// Leaves out the layers in `without`. Error: invalid_argument, naming the valid values.
Result<sandbox::SandboxConfig> sandbox_config(const SandboxOptions& options, const Paths& paths);

}  // namespace assay::server
