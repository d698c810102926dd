// Implements `assay check KERNEL --against REFERENCE --input ...`, which compares a kernel with a
// function in PyTorch. There is no operator and nothing is scored. The exit status is 0 for pass, 1
// for fail, 2 for error.
#include <CLI/CLI.hpp>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "sandbox/device/choose_device.h"
#include "sandbox/device/make_device.h"
#include "server/app/exit_status.h"
#include "server/app/files.h"
#include "server/app/option_groups.h"
#include "server/app/workspace.h"
#include "server/commands/check_words.h"
#include "server/commands/commands.h"
#include "tools/answer/verdict_answer.h"
#include "tools/json/verdict_json.h"
#include "tools/model/check_input.h"
#include "tools/model/check_job.h"

namespace assay::server {
namespace {

namespace fs = std::filesystem;

/// The time between two looks at the files of --watch.
constexpr std::chrono::milliseconds kWatchPause{200};

struct CheckOptions {
  std::string kernel, against;  // FILE:FUNCTION
  std::vector<std::string> inputs, axes;
  std::string device = sandbox::kAutoDevice;
  std::string language;
  std::optional<double> tolerance;
  SandboxOptions sandbox;
  bool json = false, watch = false, no_profile = false;
};

/// The files of a check and its parsed options.
struct PreparedCheck {
  tools::CheckRequest request;
  FunctionInFile kernel, reference;
};

Result<PreparedCheck> prepare_check(const CheckOptions& options,
                                    const std::vector<std::string>& rest) {
  PreparedCheck check;
  ASSAY_TRY(kernel, function_in_file(options.kernel, "the kernel"));
  ASSAY_TRY(reference, function_in_file(options.against, "--against"));
  check.kernel = std::move(kernel);
  check.reference = std::move(reference);
  check.request.entry = check.kernel.function;
  check.request.reference_entry = check.reference.function;
  check.request.inputs = options.inputs;
  check.request.tolerance = options.tolerance;
  check.request.language = options.language;
  if (check.request.language.empty() && check.kernel.file.ends_with(".cu"))
    check.request.language = sandbox::kCudaCpp;
  for (const std::string& axis : options.axes)
    ASSAY_RETURN_IF_ERROR(tools::read_check_axis(axis, check.request.axes));
  ASSAY_RETURN_IF_ERROR(read_short_axes(rest, check.request.axes));
  return check;
}

/// Runs one check and prints its verdict. Returns the exit status.
int check_once(PreparedCheck& check, const CheckOptions& options, sandbox::Device& device) {
  for (auto& [file, text] :
       {std::pair<const std::string&, std::string&>{check.kernel.file, check.request.code},
        {check.reference.file, check.request.reference}}) {
    Result<std::string> source = read_source(file, options.sandbox.limits.source_bytes);
    if (!source)
      return print_error("check", source.error().code == ErrorCode::corrupt ? kBadData : kNoInput,
                         source.error().message);
    text = std::move(*source);
  }
  const Result<sandbox::Job> job =
      tools::check_job(check.request, options.sandbox.limits, sandbox::JobKind::test);
  if (!job) return print_error("check", kUsage, job.error().message);
  sandbox::JobMonitor monitor;
  const std::int64_t begin_ns = system_clock().monotonic_ns();
  sandbox::Verdict verdict = device.execute(*job, monitor);
  if (verdict.outcome == sandbox::Outcome::pass && !options.no_profile) {
    Result<sandbox::Job> profile =
        tools::check_job(check.request, options.sandbox.limits, sandbox::JobKind::profile);
    // The test has run the case already, so a device without a GPU only compiles it.
    if (profile) profile->cases.front().interpreter = false;
    if (profile) tools::add_profile_of_check(verdict, device.execute(*profile, monitor));
  }
  if (options.json) {
    std::printf("%s\n", tools::verdict_to_json(verdict).dump(1).c_str());
  } else {
    tools::JobStatus over;
    over.job = job->id;
    over.state = tools::JobState::finished;
    over.elapsed_ms = (system_clock().monotonic_ns() - begin_ns) / kNsPerMs;
    std::printf("%s\n", tools::verdict_text(verdict, over, tools::Format::detailed).c_str());
  }
  std::fflush(stdout);
  return verdict.outcome == sandbox::Outcome::pass   ? kPass
         : verdict.outcome == sandbox::Outcome::fail ? kFail
                                                     : kError;
}

/// Returns the time of the last change of each file. A missing file has the earliest time.
std::vector<fs::file_time_type> change_times(const PreparedCheck& check) {
  std::vector<fs::file_time_type> times;
  for (const std::string& file : {check.kernel.file, check.reference.file}) {
    std::error_code error;
    const fs::file_time_type time = fs::last_write_time(file, error);
    times.push_back(error ? fs::file_time_type::min() : time);
  }
  return times;
}

int check(const CheckOptions& options, const std::vector<std::string>& rest) {
  Result<PreparedCheck> prepared = prepare_check(options, rest);
  if (!prepared) return print_error("check", kUsage, prepared.error().message);
  // A wrong input is reported before the device starts its processes.
  if (const Result<sandbox::Job> job =
          tools::check_job(prepared->request, options.sandbox.limits, sandbox::JobKind::test);
      !job)
    return print_error("check", kUsage, job.error().message);
  int status = kPass;
  const auto workspace = open_workspace("check", status);
  if (!workspace) return status;
  const Result<sandbox::SandboxConfig> config = sandbox_config(options.sandbox, workspace->paths);
  if (!config) return print_error("check", kUsage, config.error().message);
  if (const Status known = sandbox::check_device_option(options.device); !known)
    return print_error("check", kUnknownName, known.error().message);
  auto device = sandbox::make_device(sandbox::choose_device(options.device, *config).name, *config);
  if (!device)
    return print_error("check", status_of_device_error(device.error()), device.error().message);
  if (!options.watch) return check_once(*prepared, options, **device);
  std::vector<fs::file_time_type> seen;
  while (true) {
    const std::vector<fs::file_time_type> now = change_times(*prepared);
    if (now != seen) {
      seen = now;
      check_once(*prepared, options, **device);
    }
    system_clock().pause(kWatchPause);
  }
}

}  // namespace

void add_check(CLI::App& app, int& status) {
  auto options = std::make_shared<CheckOptions>();
  CLI::App* command = app.add_subcommand(
      "check",
      "Compare any kernel with a function in PyTorch: exit status 0 pass, 1 fail, 2 error");
  command->add_option("kernel", options->kernel, "FILE:FUNCTION, such as my.py:swish")->required();
  command->add_option("--against", options->against, "the reference: FILE:FUNCTION")->required();
  command
      ->add_option("--input", options->inputs,
                   std::string("an input, in call order: ") + tools::kCheckInputForms +
                       "; repeat it for more inputs")
      ->required()
      ->allow_extra_args(false);
  command
      ->add_option("--axis", options->axes,
                   "the values of an axis: n=1000,100003 (or --n 1000,100003); each combination of "
                   "values is a case")
      ->allow_extra_args(false);
  command->add_option("--tolerance", options->tolerance,
                      "the largest error, relative to an element or to the output's typical size "
                      "(default: it fits the output's dtype)");
  command->add_option("--device", options->device, sandbox::device_option_help())
      ->capture_default_str();
  command->add_option("--language", options->language,
                      std::string(sandbox::kLanguageNames) +
                          " (default: by the file's ending: .cu is cuda, any other python)");
  command->add_flag("--watch", options->watch, "check again whenever a file is saved");
  command->add_flag("--no-profile", options->no_profile, "do not say what limits the speed");
  add_sandbox_options(*command, options->sandbox);
  command->add_flag("--json", options->json,
                    "print the verdict as JSON (docs/reference/verdict.md)");
  command->allow_extras();
  command->callback(
      [command, options, &status] { status = check(*options, command->remaining()); });
}

}  // namespace assay::server
