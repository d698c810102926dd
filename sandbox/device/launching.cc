#include "sandbox/device/launching.h"

#include <string>
#include <utility>
#include <variant>

#include "sandbox/device/case_io.h"
#include "sandbox/wire/memfd.h"

namespace assay::sandbox {
namespace {

constexpr std::int64_t kLauncherReadyMs = 30'000;
constexpr std::int64_t kMinSamples = 30;
constexpr std::int64_t kMaxSamples = 2'000;
constexpr std::int64_t kTimingMs = 300;   // of each case; the interval of the median tells whether it was enough

/// Every tensor with bytes is an input; they share one memory file.
LaunchRequest request_for(const JobRun& run, const PreparedCase& prepared, bool timed, int& input_index) {
  LaunchRequest request;
  request.case_id = prepared.id;
  input_index = -1;
  for (const Argument& argument : prepared.arguments) {
    if (!argument.is_tensor || !argument.fd) continue;
    input_index = static_cast<int>(*argument.fd);
    request.inputs.push_back(argument);
    request.inputs.back().fd = 0;
  }
  request.output_fd = request.inputs.empty() ? 0 : 1;
  request.output_bytes = output_capacity(prepared);
  request.time = timed;
  request.min_samples = kMinSamples;
  request.max_samples = kMaxSamples;
  request.max_time_ms = kTimingMs;
  request.gpu_memory_bytes = run.job().limits.gpu_memory_bytes;
  return request;
}

/// Why a launcher gave no answer.
void fail_silent_launcher(JobRun& run, const Error& error, const std::string& case_id) {
  switch (error.code) {
    case ErrorCode::resource_exhausted:
      run.fail(ErrorKind::timeout, "case '" + case_id + "' did not end within " + std::to_string(run.job().limits.launch_wall_ms) + " ms on the GPU (launch_wall_ms); does a kernel loop for ever?");
      return;
    case ErrorCode::cancelled: run.fail(ErrorKind::cancelled, "cancelled while launching"); return;
    case ErrorCode::unavailable: run.fail(ErrorKind::gpu_fault, "case '" + case_id + "': " + error.message); return;
    default: run.fail(ErrorKind::internal_error, "launching case '" + case_id + "': " + error.message); return;
  }
}

}  // namespace

std::optional<LaunchedCases> launch_cases(JobRun& run, LauncherNursery& launchers, const PreparedJob& prepared, const std::vector<CaseDone>& plans, bool timed) {
  run.enter(Stage::launch);
  Result<std::unique_ptr<LauncherClient>> launcher = launchers.take(run.deadline(kLauncherReadyMs));
  if (!launcher) {
    run.fail_ours(launcher.error(), "starting a launcher");
    return std::nullopt;
  }
  LaunchedCases all;
  all.device = (*launcher)->device();
  for (std::size_t i = 0; i < prepared.cases.size(); ++i) {
    const PreparedCase& one = prepared.cases[i];
    Result<UniqueFd> output = create_memfd("assay-outputs", static_cast<std::uint64_t>(output_capacity(one)));
    if (!output) {
      run.fail_ours(output.error(), "making an output file");
      return std::nullopt;
    }
    int input_index = -1;
    const LaunchRequest request = request_for(run, one, timed, input_index);
    std::vector<int> fds;
    if (input_index >= 0) fds.push_back(prepared.fds[static_cast<std::size_t>(input_index)].get());
    fds.push_back(output->get());
    Result<LaunchOutcome> outcome = (*launcher)->launch(request, plans[i].plan, fds, run.deadline(run.job().limits.launch_wall_ms));
    if (!outcome) {
      fail_silent_launcher(run, outcome.error(), one.id);
      return std::nullopt;
    }
    if (const auto* failure = std::get_if<LaunchFailure>(&*outcome)) {
      run.fail(failure->kind, "case '" + one.id + "': " + failure->message);
      return std::nullopt;
    }
    all.cases.push_back({std::move(std::get<Launched>(*outcome)), std::move(*output)});
  }
  return all;
}

}  // namespace assay::sandbox
