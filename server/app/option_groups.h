// Defines groups of command-line options that several commands share. SandboxOptions sets the
// strictness of the sandbox, the limits of every job, and how many jobs share a GPU. LogOptions
// contains --log-level, --log-format and --log-file. Both are plain values. The functions must be
// called by the thread that parses the command line.
//
//   auto options = std::make_shared<SandboxOptions>();
//   add_sandbox_options(*command, *options);
//   // After the command line is parsed, before the first device:
//   Result<sandbox::SandboxConfig> config = sandbox_config(*options, paths);
//   std::vector<std::string> arguments = arguments_of(*options);  // gives a child the same options
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "base/result.h"
#include "sandbox/job/config.h"
#include "sandbox/job/job.h"
#include "server/app/workspace.h"

namespace assay::server {

/// These functions return defaults of SandboxOptions. The defaults depend on the number of the
/// machine's cores, because each recorder and each judge uses one core fully.
int default_recorders();
int default_gpu_sharers();
int default_gpu_jobs();
int default_recording_jobs();
int default_recorder_cores();
int default_judges();
inline constexpr int kMostGpuSharers = 16;
inline constexpr int kMostGpuJobs = 256;
inline constexpr int kMostJudges = 8;

struct SandboxOptions {
  std::string isolation = "best-effort";  // a text that isolation_from() parses
  std::string without;     // isolation layers to leave out; only in a build with mutations
  sandbox::Limits limits;  // the limits of every job
  int recorders = default_recorders();
  int gpu_sharers = default_gpu_sharers();
  int spare_launchers = sandbox::SandboxConfig().spare_launchers;
  int launcher_starts = sandbox::SandboxConfig().launcher_starts;
  std::int64_t host_case_bytes = sandbox::kHostCaseBytes;
  int gpu_jobs = default_gpu_jobs();
  int recording_jobs = default_recording_jobs();
  int recorder_cores = default_recorder_cores();
  int judges = default_judges();
  bool host_tier = true;
  bool allow_unjailed = false;  // devices may run device code outside of every jail
  /// The target for which a device without a GPU compiles.
  std::string compile_target = std::string(sandbox::kDefaultTarget);
  std::string ncu = "auto";        // Nsight Compute: a path, "auto" or "none"
  std::string rocprof = "auto";    // AMD's rocprofv3: a path, "auto" or "none"
  std::string sanitizer = "auto";  // Compute Sanitizer: a path, "auto" or "none"
  bool sanitize = false;           // grades run under the sanitizer
  std::int64_t sanitize_wall_ms = sandbox::SandboxConfig{}.sanitize_wall_ms;
};

/// The parsed value of the option --isolation.
struct IsolationChoice {
  sandbox::Isolation isolation = sandbox::Isolation::best_effort;
  bool spawn = false;
};
/// Parses "strict", "best-effort", "spawn", or a combination such as "strict,spawn".
Result<IsolationChoice> isolation_from(const std::string& text);

/// Adds the options to `command` and returns them.
std::vector<CLI::Option*> add_sandbox_options(CLI::App& command, SandboxOptions& options);
/// Returns the options that differ from their defaults, as command-line arguments.
std::vector<std::string> arguments_of(const SandboxOptions& options);
/// Returns the configuration of the sandbox. Switches off the isolation layers that
/// `options.without` names. Errors: invalid_argument if a value is invalid, with a message that
/// lists the valid values; unavailable if grades need the sanitizer and it was not found.
Result<sandbox::SandboxConfig> sandbox_config(const SandboxOptions& options, const Paths& paths);

struct LogOptions {
  std::string level = "info";
  std::string format = "text";
  std::string file = {};  // the path of the log file; empty: stderr
};

void add_log_options(CLI::App& command, LogOptions& options);
/// Returns the options as command-line arguments.
std::vector<std::string> arguments_of(const LogOptions& options);

/// Configures the log. Errors: invalid_argument if a name is unknown, with a message that lists the
/// valid names; other errors if the file cannot be opened.
Status start_log(const LogOptions& options);

}  // namespace assay::server
