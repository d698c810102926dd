// Implements `assay worker`, which serves the jobs of a server on stdin and stdout. The server
// starts it, on this machine or on another one (docs/reference/workers.md).
#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/log.h"
#include "base/unique_fd.h"
#include "sandbox/device/choose_device.h"
#include "sandbox/device/make_device.h"
#include "sandbox/device/record_device.h"
#include "sandbox/job/harness_digest.h"
#include "server/app/exit_status.h"
#include "server/app/option_groups.h"
#include "server/app/stop_on_signal.h"
#include "server/app/workspace.h"
#include "server/commands/commands.h"
#include "server/evaluate/worker_evaluations.h"
#include "server/workers/worker_loop.h"

namespace assay::server {
namespace {

constexpr std::int64_t kReadyMs = 120'000;  // a device that is not ready by then is a failure
constexpr int kMostPartsOfRecording = 2;    // any number above 1 allows several

struct WorkerOptions {
  std::string device = sandbox::kAutoDevice;
  std::string role = kRoleAll;
  std::string suite;
  SandboxOptions sandbox;
  LogOptions log;
};

std::string host_name() {
  constexpr std::size_t kMostBytes = 256;
  std::string name(kMostBytes, '\0');
  if (::gethostname(name.data(), name.size() - 1) != 0) return "unknown";
  name.resize(name.find('\0'));
  return name;
}

/// Returns the descriptor of stdout for frames. From then on, everything else that is written to
/// stdout goes to stderr.
Result<UniqueFd> take_stdout() {
  UniqueFd frames(::fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 0));
  if (!frames) return fail_errno("dup stdout");
  if (::dup2(STDERR_FILENO, STDOUT_FILENO) < 0) return fail_errno("dup stderr");
  return frames;
}

/// Gives the job the folder of its operator on this machine.
Status place(const operators::Catalog& catalog, sandbox::Job& job) {
  if (job.reference) return {};
  const operators::Operator* op = catalog.find(job.operator_name);
  if (op == nullptr) return fail(ErrorCode::not_found, "no operator " + job.operator_name);
  job.operator_dir = op->directory.string();
  return {};
}

/// The device of a worker. A worker with role record has `recorder`, which is its device.
struct WorkerDevice {
  std::unique_ptr<sandbox::Device> device;
  sandbox::RecordDevice* recorder = nullptr;
};

/// Returns the configuration of a worker with role launch. It starts no candidates, except for the
/// reference of a check, so it has no host tier, whatever the options say. The workers that record
/// decide how many candidates they use.
sandbox::SandboxConfig launching(sandbox::SandboxConfig config) {
  config.records = false;
  config.recorders = kMostPartsOfRecording;
  config.parked_candidates = 1;
  return config;
}

Result<WorkerDevice> make_worker_device(const WorkerOptions& options,
                                        const sandbox::SandboxConfig& config) {
  if (options.role == kRoleRecord) {
    auto recorder = std::make_unique<sandbox::RecordDevice>(config);
    sandbox::RecordDevice* const raw = recorder.get();
    return WorkerDevice{std::move(recorder), raw};
  }
  const std::string name = sandbox::choose_device(options.device, config).name;
  const bool launches = options.role == kRoleLaunch;
  if (launches && !sandbox::can_time(name))
    return fail(ErrorCode::invalid_argument,
                "a worker with role launch needs a GPU, and its device is " + name);
  ASSAY_TRY(device, sandbox::make_device(name, launches ? launching(config) : config));
  return WorkerDevice{std::move(device)};
}

/// Returns why the options contradict each other, or "".
std::string contradiction(const WorkerOptions& options) {
  if (!is_role(options.role)) return "unknown role '" + options.role + "'; valid: " + kRoleNames;
  if (options.role == kRoleRecord && options.device != sandbox::kAutoDevice)
    return "a worker with role record uses no device; leave out --device (--compile-target names "
           "the GPUs for which it records)";
  return "";
}

int worker(const WorkerOptions& options) {
  if (const Status started = start_log(options.log); !started)
    return print_error("worker", kUsage, started.error().message);
  if (const Status known = sandbox::check_device_option(options.device); !known)
    return print_error("worker", kUnknownName, known.error().message);
  if (const std::string wrong = contradiction(options); !wrong.empty())
    return print_error("worker", kUsage, wrong);
  if (::isatty(STDIN_FILENO) != 0)
    return print_error("worker", kUsage,
                       "a server starts this command (assay serve --worker-command) and speaks "
                       "frames with it; stdin is a terminal");
  Result<UniqueFd> out = take_stdout();
  if (!out) return print_error("worker", kInternal, out.error().message);
  ::signal(SIGPIPE, SIG_IGN);  // a write to a server that has gone must fail
  int status = kPass;
  const std::optional<Workspace> workspace = open_workspace("worker", status, options.suite);
  if (!workspace) return status;
  const Result<sandbox::SandboxConfig> config = sandbox_config(options.sandbox, workspace->paths);
  if (!config) return print_error("worker", kUsage, config.error().message);
  const Result<WorkerDevice> made = make_worker_device(options, *config);
  if (!made)
    return print_error("worker", status_of_device_error(made.error()), made.error().message);
  sandbox::Device& device = *made->device;
  if (const Status ready = device.wait_until_ready(sandbox::Deadline::after_ms(kReadyMs)); !ready)
    return print_error(
        "worker", kUnavailable,
        "device " + device.info().name + " does not start: " + ready.error().message);
  WorkerHello hello;
  Result<std::vector<sandbox::LayerReport>> layers =
      device.layers(sandbox::Deadline::after_ms(kReadyMs));
  if (!layers)
    return print_error("worker", kUnavailable,
                       "the sandbox of device " + device.info().name +
                           " does not start: " + layers.error().message);
  hello.layers = std::move(*layers);
  hello.device = device.info();
  hello.revision = {.assay = ASSAY_VERSION,
                    .harness = sandbox::harness_digest(config->harness_dir),
                    .suite = workspace->catalog.suite().digest,
                    .device = hello.device.name,
                    .role = options.role,
                    .strict = config->isolation == sandbox::Isolation::strict};
  hello.host = host_name();
  hello.pid = ::getpid();
  const Result<std::unique_ptr<StopOnSignal>> stop = StopOnSignal::install();
  if (!stop) return print_error("worker", kInternal, stop.error().message);
  const EvaluationContext context{.catalog = workspace->catalog,
                                  .devices = {hello.device.name},
                                  .job_limits = options.sandbox.limits};
  std::optional<RecordingService> recordings;
  if (made->recorder != nullptr) recordings.emplace(*made->recorder, config->recorders);
  WorkerLoop loop(
      device, std::move(hello), [&](sandbox::Job& job) { return place(workspace->catalog, job); },
      options.role == kRoleAll ? evaluate_for(context) : nullptr,
      recordings ? &*recordings : nullptr);
  const Status served = loop.serve(STDIN_FILENO, out->get(), (*stop)->orderly());
  if (served) return kPass;
  return print_error("worker", kUnavailable, served.error().message);
}

}  // namespace

void add_worker(CLI::App& app, int& status) {
  auto options = std::make_shared<WorkerOptions>();
  CLI::App* command = app.add_subcommand(
      "worker", "Serve jobs on stdin and stdout, for a server that started this command");
  command->add_option("--device", options->device, sandbox::device_option_help())
      ->capture_default_str();
  command
      ->add_option(
          "--role", options->role,
          "what the worker does: all; record, which uses processors only (import, compile, "
          "record); or launch, which uses the GPU (perform, judge, time) and imports no "
          "submission")
      ->capture_default_str();
  command->add_option("--suite", options->suite,
                      "a folder of operators to serve instead of Assay's own");
  add_sandbox_options(*command, options->sandbox);
  add_log_options(*command, options->log);
  command->callback([options, &status] { status = worker(*options); });
}

}  // namespace assay::server
