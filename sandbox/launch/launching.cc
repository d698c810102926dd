#include "sandbox/launch/launching.h"

#include <algorithm>
#include <array>
#include <csignal>
#include <cstdint>
#include <map>
#include <utility>

#include "base/clock.h"
#include "sandbox/record/candidate_run.h"
#include "sandbox/record/case_io.h"

namespace assay::sandbox {
namespace {

constexpr std::int64_t kTakeMs = 30'000;

// Returns the maximum number of operations that a multiprocessor performs in one cycle. The number
// is the rate for the narrowest type, for example fp8 or int8, without sparsity. physics_floor()
// computes the minimum time of a case from this number. So no correct kernel of any type can be
// faster than that minimum time.
double peak_operations_per_cycle(const std::string& target) {
  if (target == "cuda:80" || target == "cuda:86" || target == "cuda:89") return 4'096;
  if (target == "cuda:90") return 8'192;
  // From AMD's data sheets: the rate of int8 or fp8, for gfx950 of fp4, over compute units and
  // clock.
  if (target == "hip:gfx90a") return 1'024;
  if (target == "hip:gfx942") return 4'096;
  if (target == "hip:gfx950") return 16'384;
  return 32'768;
}

LaunchInput input_of(const PreparedCase& one, const Argument& tensor, std::size_t fd,
                     std::int64_t offset) {
  return {.name = tensor.name,
          .fd = fd,
          .offset = static_cast<std::uint64_t>(offset),
          .bytes = static_cast<std::uint64_t>(tensor.nbytes),
          .inout = std::find(one.inout.begin(), one.inout.end(), tensor.name) != one.inout.end()};
}

/// Returns the input tensors of a case that are in the device memory shared with the judge.
std::vector<LaunchInput> device_inputs(const PreparedCase& one) {
  std::vector<LaunchInput> inputs;
  for (const Argument& argument : one.arguments) {
    if (argument.is_tensor)
      inputs.push_back(input_of(one, argument, 0, one.device->inputs.at(argument.name)));
  }
  return inputs;
}

/// Returns the input tensors of a case that are in memory files. The returned file indices refer to
/// the descriptors of the launch request.
std::vector<LaunchInput> file_inputs(const PreparedJob& prepared, const PreparedCase& one,
                                     std::vector<int>& fds) {
  std::map<std::int64_t, std::size_t> placed;
  std::vector<LaunchInput> inputs;
  for (const Argument& argument : one.arguments) {
    if (!argument.is_tensor || !argument.fd) continue;
    const auto [found, fresh] = placed.emplace(*argument.fd, fds.size());
    if (fresh) fds.push_back(prepared.fds[static_cast<std::size_t>(*argument.fd)].get());
    inputs.push_back(input_of(one, argument, found->second, argument.offset));
  }
  return inputs;
}

/// Returns true if the job may use a launcher that earlier jobs of its run have used. A grade may
/// not. A job whose inputs other jobs share may not either: what an earlier job left in the memory
/// of the launcher's context could be the right answers for these inputs.
bool may_share(const Job& job) { return job.kind != JobKind::grade && job.input_seed.empty(); }

double ms_since(std::int64_t begin_ns) {
  return static_cast<double>(system_clock().monotonic_ns() - begin_ns) / kNsPerMs;
}

/// Returns true if a launch with this kind of error was performed to its end. Its launcher can then
/// be used again.
bool is_harmless(ErrorKind kind) {
  return kind == ErrorKind::none || kind == ErrorKind::wrong_result ||
         kind == ErrorKind::output_mismatch;
}

}  // namespace

LaunchFiles launch_files(LaunchRequest about, const PreparedJob& prepared, std::size_t index,
                         int output_fd, std::int64_t gpu_memory_bytes) {
  const PreparedCase& one = prepared.cases[index];
  LaunchFiles files{std::move(about), {}};
  auto& [request, fds] = files;
  request.case_id = one.id;
  request.gpu_memory_bytes = static_cast<std::uint64_t>(gpu_memory_bytes);
  // The launcher keeps its access to the job's device memory beside a case that does not use it.
  if (prepared.device) request.memory_id = prepared.device->id;
  if (one.device && prepared.device) {
    request.inputs = device_inputs(one);
    request.output_offset = static_cast<std::uint64_t>(one.device->output_offset);
    request.device_bytes = static_cast<std::uint64_t>(prepared.device->bytes);
    fds.push_back(prepared.fds[static_cast<std::size_t>(prepared.device->fd)].get());
  } else {
    request.inputs = file_inputs(prepared, one, fds);
    request.output_fd = fds.size();
    fds.push_back(output_fd);
  }
  request.output_bytes = static_cast<std::uint64_t>(one.output_bytes);
  return files;
}

ErrorKind error_kind(LaunchErrorKind kind) {
  switch (kind) {
    case LaunchErrorKind::invalid_plan: return ErrorKind::invalid_plan;
    case LaunchErrorKind::launch_failure: return ErrorKind::launch_failure;
    case LaunchErrorKind::gpu_fault: return ErrorKind::gpu_fault;
    case LaunchErrorKind::gpu_memory_limit: return ErrorKind::gpu_memory_limit;
    case LaunchErrorKind::device_full: return ErrorKind::internal_error;
    case LaunchErrorKind::canary_violation: return ErrorKind::canary_violation;
    case LaunchErrorKind::internal_error: return ErrorKind::internal_error;
  }
  return ErrorKind::internal_error;
}

bool driver_crashed(const ExitStatus& status) {
  constexpr std::array kOfItself = {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT, SIGTRAP, SIGSYS};
  return status.by_signal() &&
         std::find(kOfItself.begin(), kOfItself.end(), status.value) != kOfItself.end();
}

LaunchSession::LaunchSession(JobExecution& run, LauncherPool& launchers, Whose whose)
    : run_(run),
      launchers_(launchers),
      whose_(whose),
      kept_for_(whose == Whose::submission && may_share(run.job()) ? run.job().run
                                                                   : std::string()) {}

Result<std::unique_ptr<LauncherClient>> LaunchSession::take(const Deadline& deadline) {
  if (whose_ == Whose::oracle) return launchers_.take_for_oracle(run_.job().operator_dir, deadline);
  return kept_for_.empty() ? launchers_.take(deadline)
                           : launchers_.take_for_run(kept_for_, deadline);
}

LaunchFigures& LaunchSession::figures() {
  std::optional<LaunchFigures>& figures = run_.verdict().launch;
  return figures ? *figures : figures.emplace();
}

bool LaunchSession::ready() {
  if (launcher_) return true;
  run_.enter(Stage::queue);
  const std::int64_t begin_ns = system_clock().monotonic_ns();
  Result<std::unique_ptr<LauncherClient>> taken = take(run_.deadline(kTakeMs));
  figures().add(LaunchPart::wait, ms_since(begin_ns));
  if (!taken) {
    if (const auto last_start_error = launchers_.last_start_error();
        last_start_error && taken.error().code != ErrorCode::cancelled)
      return run_.fail(
          ErrorKind::device_unhealthy,
          "the device does not work and is tried again every few seconds: " + *last_start_error);
    return run_.fail_infrastructure(taken.error(), "starting the launcher");
  }
  launcher_ = std::move(*taken);
  ++(launcher_->launches() == 0 ? figures().new_contexts : figures().kept_contexts);
  return true;
}

void LaunchSession::end() {
  if (!launcher_) return;
  launcher_->release_memory();
  if (whose_ == Whose::oracle && !run_.failed())
    launchers_.keep(run_.job().operator_dir, std::move(launcher_));
  else if (!kept_for_.empty() && !failed_ && is_harmless(run_.verdict().error_kind))
    launchers_.keep_for_run(kept_for_, std::move(launcher_));
  else if (failed_)
    launchers_.discard(std::move(launcher_));
  else
    launchers_.retire(std::move(launcher_));
}

std::optional<Launched> LaunchSession::launch(const CasePlan& plan, const LaunchOptions& options) {
  LaunchRequest request;
  request.time = options.time;
  request.inspect = options.inspect;
  request.chosen = options.chosen;
  request.stage_next_inputs = static_cast<bool>(options.stage_next_inputs);
  request.returns_outputs = options.returns_outputs;
  return perform(std::move(request), plan, options.stage_next_inputs);
}

std::optional<Launched> LaunchSession::launch_ablated(const CasePlan& plan,
                                                      std::vector<std::int64_t> chosen) {
  LaunchRequest request;
  request.ablated = true;
  request.chosen = std::move(chosen);
  return perform(std::move(request), plan);
}

std::optional<Launched> LaunchSession::perform(LaunchRequest request, const CasePlan& plan,
                                               const std::function<bool()>& stage_next_inputs) {
  if (!ready()) return std::nullopt;
  const PreparedCase& one = plan.prepared.cases[plan.index];
  // Also a plan that no candidate has recorded in this job, but a cache, another machine or the
  // store has kept, may depend on the hidden case.
  if (is_hidden(run_.job(), one.id)) run_.tell_hidden();
  run_.enter(Stage::launch);
  const auto [whole, fds] = launch_files(std::move(request), plan.prepared, plan.index,
                                         plan.output_fd, run_.job().limits.gpu_memory_bytes);
  bool staged = true;
  double staging_ms = 0;
  const auto stage = [&]() -> Status {
    const std::int64_t staging_ns = system_clock().monotonic_ns();
    staged = stage_next_inputs();
    run_.enter(Stage::launch);
    staging_ms = ms_since(staging_ns);
    return staged ? Status() : fail(ErrorCode::cancelled, "no new inputs");
  };
  const std::int64_t begin_ns = system_clock().monotonic_ns();
  Result<LaunchOutcome> outcome =
      launcher_->launch(whole, plan.plan, fds, run_.deadline(run_.job().limits.launch_wall_ms),
                        stage_next_inputs ? stage : std::function<Status()>());
  const double took_ms = ms_since(begin_ns) - staging_ms;
  if (!staged) {
    launchers_.discard(std::move(launcher_));
    return std::nullopt;
  }
  if (!outcome) return failed(outcome.error(), one.id);
  if (const auto* failure = std::get_if<LaunchFailure>(&*outcome)) {
    failed_ = true;
    const LaunchError& error = failure->error;
    device_was_full_ = error.kind == LaunchErrorKind::device_full;
    if (error.kind == LaunchErrorKind::gpu_fault || error.kind == LaunchErrorKind::internal_error)
      launchers_.invalidate_idle();
    run_.fail(error_kind(error.kind), error.message + " (case '" + one.id + "')");
    return std::nullopt;
  }
  Launched launched = std::get<Launched>(std::move(*outcome));
  figures().add(launched.parts);
  figures().add(LaunchPart::other, std::max(0.0, took_ms - launched.parts.total()));
  if (whole.time && !launched.samples) {
    run_.fail(ErrorKind::internal_error, "the launcher took no samples of case '" + one.id + "'");
    return std::nullopt;
  }
  run_.case_done(plan.index + 1, plan.prepared.cases.size());
  return launched;
}

std::optional<Launched> LaunchSession::failed(const Error& error, const std::string& case_id) {
  const std::optional<ExitStatus> status = launcher_->exit_status();
  launchers_.discard(std::move(launcher_));
  if (error.code != ErrorCode::cancelled) launchers_.invalidate_idle();
  const std::string where = " (case '" + case_id + "')";
  switch (error.code) {
    case ErrorCode::cancelled: run_.fail(ErrorKind::cancelled, "cancelled while launching"); break;
    case ErrorCode::resource_exhausted:
      run_.fail(ErrorKind::timeout, "the GPU worked longer than " +
                                        std::to_string(run_.job().limits.launch_wall_ms) + " ms" +
                                        where);
      break;
    case ErrorCode::unavailable:
      // The launcher has ended, or it cannot be reached.
      run_.fail(status && driver_crashed(*status) ? ErrorKind::crash : ErrorKind::internal_error,
                error.message + where);
      break;
    default: run_.fail_infrastructure(error, "launching" + where); break;
  }
  return std::nullopt;
}

std::optional<Floor> physics_floor(const DeviceFacts& device, double cost_bytes,
                                   double cost_flops) {
  if (device.bandwidth_bytes_per_s <= 0 || device.clock_khz <= 0) return std::nullopt;
  const double flops_per_ns = static_cast<double>(device.sms) *
                              static_cast<double>(device.clock_khz) * 1e3 *
                              peak_operations_per_cycle(device.target) / 1e9;
  const double bytes_per_ns = static_cast<double>(device.bandwidth_bytes_per_s) / 1e9;
  const double arithmetic = cost_flops / flops_per_ns;
  const double uncached = std::max(0.0, cost_bytes - static_cast<double>(device.l2_bytes));
  return Floor{std::max(arithmetic, cost_bytes / bytes_per_ns),
               std::max(arithmetic, uncached / bytes_per_ns)};
}

}  // namespace assay::sandbox
