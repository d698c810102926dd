#include "server/app/option_groups.h"

#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "base/log.h"
#include "base/result.h"
#include "sandbox/jail/layer.h"
#include "sandbox/job/processors.h"

namespace assay::server {
namespace {

// The shortest time limit of a job, in milliseconds. With a shorter limit the time would be over
// before the candidate has imported the parts of torch that the zygote has not imported.
constexpr std::int64_t kLeastWallMs = 100;
constexpr std::int64_t kLeastMemoryMib = 256;  // torch and Triton need this much
constexpr std::int64_t kMostMemoryMib = 1 << 20;
constexpr std::int64_t kMostWallMs = 60 * 60'000;  // no agent waits longer for a job
constexpr std::int64_t kLeastCpuPercent = 10;
constexpr std::int64_t kMostCpuPercent = 100'000;
constexpr int kMostRecorders = 8;
constexpr int kMostSpareLaunchers = 128;  // LauncherDemand remembers no more
constexpr int kMostLauncherStarts = 32;
constexpr int kCoresForTwoRecorders = 8;
constexpr int kSharers = 4;
constexpr int kMostDefaultRecordingJobs = 16;
// The number of jobs in progress on one GPU, divided by the number of jobs that compile. Most of
// the jobs in progress wait for a judge or for the GPU.
constexpr int kJobsPerRecordingJob = 6;
// While a judge compiles the golden kernels of an operator, it uses a core fully. Otherwise it
// mostly waits for the GPU or for a request.
constexpr int kCoresPerJudge = 2;
constexpr int kMostDefaultJudges = 8;
constexpr std::int64_t kLeastSanitizeMs = 1'000;  // a GPU context takes this long to make

/// Sets `program` to the value of an option that names a program. The value is the program's
/// absolute path, or "none" for no program. "auto" leaves `program` unchanged.
Status choose_program(const char* option, const std::string& chosen, std::string& program) {
  if (chosen == "auto") return {};
  if (chosen != "none" && !chosen.starts_with('/'))
    return fail(ErrorCode::invalid_argument,
                std::string(option) + " '" + chosen +
                    "' is not an absolute path; valid: auto, none, or a path that begins with /");
  program = chosen == "none" ? "" : chosen;
  return {};
}

}  // namespace

int default_recorders() { return sandbox::usable_processors() >= kCoresForTwoRecorders ? 2 : 1; }

int default_gpu_sharers() {
  return sandbox::usable_processors() >= kCoresForTwoRecorders ? kSharers : 1;
}

// Returns the default number of jobs that compile at a time: one for each core that it may use, but
// at most kMostDefaultRecordingJobs. With fewer jobs, cores are idle. With more jobs, the recorders
// compete for the cores (docs/measurements/server.md).
int default_recording_jobs() {
  return std::clamp(sandbox::usable_processors(), default_gpu_sharers(), kMostDefaultRecordingJobs);
}

int default_recorder_cores() {
  return std::min(sandbox::usable_processors(), sandbox::kMostRecorderCores);
}

int default_gpu_jobs() { return kJobsPerRecordingJob * default_recording_jobs(); }

int default_judges() {
  return std::clamp(sandbox::usable_processors() / kCoresPerJudge, 1, kMostDefaultJudges);
}

std::vector<CLI::Option*> add_sandbox_options(CLI::App& command, SandboxOptions& options) {
  const std::size_t before = command.get_options().size();
  const CLI::Range wall(kLeastWallMs, kMostWallMs);
  command
      .add_option("--isolation", options.isolation,
                  "strict: refuse to start if a sandbox layer is missing; best-effort: name it in "
                  "every verdict; spawn, alone or after a comma: start a new Python for each "
                  "candidate, which takes seconds")
      ->capture_default_str();
  command
      .add_option("--import-wall-ms", options.limits.import_wall_ms,
                  "wall time for executing a submission's module, ms")
      ->check(wall)
      ->capture_default_str();
  command
      .add_option("--run-wall-ms", options.limits.run_wall_ms,
                  "wall time for compiling, recording and interpreting a submission together, ms")
      ->check(wall)
      ->capture_default_str();
  command
      .add_option("--judge-wall-ms", options.limits.judge_wall_ms,
                  "wall time of a judge for one request: to describe or make the cases of an "
                  "operator, or to judge one case, ms")
      ->check(wall)
      ->capture_default_str();
  command
      .add_option("--reference-wall-ms", options.limits.reference_wall_ms,
                  "wall time of the reference of a check for one request of the judge, ms")
      ->check(wall)
      ->capture_default_str();
  command
      .add_option_function<std::int64_t>(
          "--memory-mib",
          [&options](const std::int64_t& mib) { options.limits.memory_bytes = mib << 20; },
          "memory of a candidate with all its processes, MiB")
      ->check(CLI::Range(kLeastMemoryMib, kMostMemoryMib))
      ->default_str(std::to_string(options.limits.memory_bytes >> 20));
  command
      .add_option("--cpu-percent", options.limits.cpu_percent,
                  "processor time of a candidate with all its processes, percent of one processor")
      ->check(CLI::Range(kLeastCpuPercent, kMostCpuPercent))
      ->capture_default_str();
  command
      .add_option("--recorders", options.recorders,
                  "candidates that record the cases of one submission at once, for a GPU; each "
                  "takes a core and --memory-mib (default: 1; 2 from " +
                      std::to_string(kCoresForTwoRecorders) + " cores on)")
      ->check(CLI::Range(1, kMostRecorders))
      ->capture_default_str();
  command
      .add_option("--gpu-sharers", options.gpu_sharers,
                  "jobs that share one GPU while none is timed; each takes cores for its recorders "
                  "(default: 1; " +
                      std::to_string(kSharers) + " from " + std::to_string(kCoresForTwoRecorders) +
                      " cores on)")
      ->check(CLI::Range(1, kMostGpuSharers))
      ->capture_default_str();
  command
      .add_option("--spare-launchers", options.spare_launchers,
                  "the most unused launchers that wait on one GPU after many were used; each has a "
                  "GPU context, and 3 always wait")
      ->check(CLI::Range(0, kMostSpareLaunchers))
      ->capture_default_str();
  command
      .add_option("--launcher-starts", options.launcher_starts,
                  "launchers of one GPU that start at once, if several jobs wait for one")
      ->check(CLI::Range(1, kMostLauncherStarts))
      ->capture_default_str();
  command
      .add_option("--host-case-bytes", options.host_case_bytes,
                  "the most bytes of a case that reach a GPU through the host's memory, and not "
                  "through memory that the judge shares with the launcher; 0: none")
      ->check(CLI::Range(std::int64_t{0}, sandbox::kMostHostCaseBytes))
      ->capture_default_str();
  command
      .add_option("--gpu-jobs", options.gpu_jobs,
                  "jobs that one GPU device has in progress, at least --gpu-sharers; most of them "
                  "wait for a judge or for the GPU")
      ->check(CLI::Range(1, kMostGpuJobs))
      ->capture_default_str();
  command
      .add_option("--recording-jobs", options.recording_jobs,
                  "jobs of one GPU whose submissions are compiled at once; each takes "
                  "processors for its recorders (default: one for a core, at most " +
                      std::to_string(kMostDefaultRecordingJobs) + ")")
      ->check(CLI::Range(1, sandbox::kMostRecordingJobs))
      ->capture_default_str();
  command
      .add_option(
          "--recorder-cores", options.recorder_cores,
          "processors that the recorders of one device share; a submission that is not timed "
          "gets fewer recorders, and more time for each, if each could not have a processor "
          "(default: all usable processors)")
      ->check(CLI::Range(1, sandbox::kMostRecorderCores))
      ->capture_default_str();
  command
      .add_option("--judges", options.judges,
                  "judges of one GPU; each is a process with PyTorch and takes a few hundred MB of "
                  "the GPU's memory (default: one for " +
                      std::to_string(kCoresPerJudge) + " cores, at most " +
                      std::to_string(kMostDefaultJudges) + ")")
      ->check(CLI::Range(1, kMostJudges))
      ->capture_default_str();
  command.add_flag("!--no-host-tier", options.host_tier,
                   "make it an error if a submission cannot be recorded, instead of giving it the "
                   "GPU inside the jail");
  command.add_flag("--allow-unjailed-device", options.allow_unjailed,
                   "allow a device that runs the kernels of submissions outside of every jail "
                   "(emulated); only for submissions that you trust");
  command
      .add_option("--compile-target", options.compile_target,
                  "the target for which device cpu compiles the kernels of a submission: " +
                      sandbox::target_names())
      ->check(CLI::IsMember(
          std::vector<std::string>(sandbox::kTargets.begin(), sandbox::kTargets.end())))
      ->capture_default_str();
  command
      .add_option("--ncu", options.ncu,
                  "Nsight Compute, for `profile` with detail=counters: the absolute path of ncu, "
                  "auto to look for it, or none")
      ->capture_default_str();
  command
      .add_option("--rocprofv3", options.rocprof,
                  "AMD's profiler, for `profile` with detail=counters on AMD's GPUs: the absolute "
                  "path of rocprofv3, auto to look for it, or none")
      ->capture_default_str();
  command
      .add_option(
          "--sanitizer", options.sanitizer,
          "NVIDIA Compute Sanitizer, for `profile` with detail=sanitize and for --sanitize: "
          "the absolute path of compute-sanitizer, auto to look for it, or none")
      ->capture_default_str();
  command.add_flag(
      "--sanitize", options.sanitize,
      "replay each case of a grade under the sanitizer; a stray access or a race fails "
      "the grade (minutes per grade)");
  command
      .add_option("--sanitize-wall-ms", options.sanitize_wall_ms,
                  "wall time of one tool of the sanitizer for one case, ms")
      ->check(CLI::Range(kLeastSanitizeMs, kMostWallMs))
      ->capture_default_str();
  if (sandbox::mutations_possible())
    command.add_option("--without", options.without,
                       "sandbox layers to leave out, separated by commas; for tests only");
  std::vector<CLI::Option*> added = command.get_options();
  added.erase(added.begin(), added.begin() + static_cast<std::ptrdiff_t>(before));
  return added;
}

std::vector<std::string> arguments_of(const SandboxOptions& options) {
  const SandboxOptions defaults;
  std::vector<std::string> arguments;
  const auto text = [&](const char* name, const std::string& chosen, const std::string& otherwise) {
    if (chosen != otherwise) arguments.insert(arguments.end(), {name, chosen});
  };
  const auto number = [&](const char* name, std::int64_t chosen, std::int64_t otherwise) {
    text(name, std::to_string(chosen), std::to_string(otherwise));
  };
  text("--isolation", options.isolation, defaults.isolation);
  text("--without", options.without, defaults.without);
  number("--import-wall-ms", options.limits.import_wall_ms, defaults.limits.import_wall_ms);
  number("--memory-mib", options.limits.memory_bytes >> 20, defaults.limits.memory_bytes >> 20);
  number("--run-wall-ms", options.limits.run_wall_ms, defaults.limits.run_wall_ms);
  number("--judge-wall-ms", options.limits.judge_wall_ms, defaults.limits.judge_wall_ms);
  number("--reference-wall-ms", options.limits.reference_wall_ms,
         defaults.limits.reference_wall_ms);
  number("--cpu-percent", options.limits.cpu_percent, defaults.limits.cpu_percent);
  number("--recorders", options.recorders, defaults.recorders);
  number("--gpu-jobs", options.gpu_jobs, defaults.gpu_jobs);
  number("--recording-jobs", options.recording_jobs, defaults.recording_jobs);
  number("--recorder-cores", options.recorder_cores, defaults.recorder_cores);
  number("--judges", options.judges, defaults.judges);
  number("--gpu-sharers", options.gpu_sharers, defaults.gpu_sharers);
  number("--spare-launchers", options.spare_launchers, defaults.spare_launchers);
  number("--launcher-starts", options.launcher_starts, defaults.launcher_starts);
  number("--host-case-bytes", options.host_case_bytes, defaults.host_case_bytes);
  text("--ncu", options.ncu, defaults.ncu);
  text("--rocprofv3", options.rocprof, defaults.rocprof);
  text("--sanitizer", options.sanitizer, defaults.sanitizer);
  number("--sanitize-wall-ms", options.sanitize_wall_ms, defaults.sanitize_wall_ms);
  if (options.sanitize) arguments.emplace_back("--sanitize");
  text("--compile-target", options.compile_target, defaults.compile_target);
  if (!options.host_tier) arguments.emplace_back("--no-host-tier");
  if (options.allow_unjailed) arguments.emplace_back("--allow-unjailed-device");
  return arguments;
}

Result<IsolationChoice> isolation_from(const std::string& text) {
  IsolationChoice choice;
  std::string rest = text + ",";
  while (!rest.empty()) {
    const std::string word = rest.substr(0, rest.find(','));
    rest.erase(0, word.size() + 1);
    if (word == "strict")
      choice.isolation = sandbox::Isolation::strict;
    else if (word == "spawn")
      choice.spawn = true;
    else if (word != "best-effort")
      return fail(
          ErrorCode::invalid_argument,
          "unknown isolation '" + word + "'; valid: strict, best-effort, spawn, strict,spawn");
  }
  return choice;
}

Result<sandbox::SandboxConfig> sandbox_config(const SandboxOptions& options, const Paths& paths) {
  if (!options.without.empty()) {
    ASSAY_RETURN_IF_ERROR(sandbox::leave_out(options.without));
  }
  ASSAY_TRY(isolation, isolation_from(options.isolation));
  if (paths.installed && ::access(paths.python.c_str(), X_OK) != 0)
    return fail(ErrorCode::unavailable,
                "there is no Python with PyTorch and Triton at " + paths.python.string() +
                    ": `assay setup` installs them, or ASSAY_PYTHON names a Python that has them");
  sandbox::SandboxConfig config = sandbox_config(paths, isolation.isolation);
  ASSAY_RETURN_IF_ERROR(choose_program("--ncu", options.ncu, config.ncu));
  ASSAY_RETURN_IF_ERROR(choose_program("--rocprofv3", options.rocprof, config.rocprof));
  ASSAY_RETURN_IF_ERROR(choose_program("--sanitizer", options.sanitizer, config.sanitizer));
  if (options.sanitize && config.sanitizer.empty())
    return fail(ErrorCode::unavailable,
                std::string("--sanitize: NVIDIA Compute Sanitizer was not found; ") +
                    sandbox::kSanitizerInstallation);
  config.sanitize = options.sanitize;
  config.sanitize_wall_ms = options.sanitize_wall_ms;
  config.spawn = isolation.spawn;
  config.job_limits = options.limits;
  config.recorders = options.recorders;
  config.host_tier = options.host_tier;
  config.allow_unjailed = options.allow_unjailed;
  config.compile_target = options.compile_target;
  config.gpu_sharers = options.gpu_sharers;
  config.spare_launchers = options.spare_launchers;
  config.launcher_starts = options.launcher_starts;
  config.host_case_bytes = options.host_case_bytes;
  config.gpu_jobs = options.gpu_jobs;
  config.recording_jobs = options.recording_jobs;
  config.recorder_cores = options.recorder_cores;
  config.judges = options.judges;
  // A parked candidate is a process that waits for a job. This number of parked candidates is
  // enough for the next jobs while used candidates are being replaced.
  config.parked_candidates = std::max(2, options.gpu_sharers) * options.recorders;
  return config;
}

std::vector<std::string> arguments_of(const LogOptions& options) {
  std::vector<std::string> arguments = {"--log-level", options.level, "--log-format",
                                        options.format};
  if (!options.file.empty()) arguments.insert(arguments.end(), {"--log-file", options.file});
  return arguments;
}

void add_log_options(CLI::App& command, LogOptions& options) {
  command
      .add_option("--log-level", options.level,
                  std::string("least severe lines of the log: ") + log::kLevelNames)
      ->capture_default_str();
  command.add_option("--log-format", options.format, log::kFormatNames)->capture_default_str();
  command.add_option("--log-file", options.file, "append the log to this file (default: stderr)");
}

Status start_log(const LogOptions& options) {
  const auto level = log::level_named(options.level);
  if (!level)
    return fail(ErrorCode::invalid_argument,
                "unknown --log-level '" + options.level + "'; valid: " + log::kLevelNames);
  const auto format = log::format_named(options.format);
  if (!format)
    return fail(ErrorCode::invalid_argument,
                "unknown --log-format '" + options.format + "'; valid: " + log::kFormatNames);
  return log::configure({.level = *level, .format = *format, .file = options.file});
}

}  // namespace assay::server
