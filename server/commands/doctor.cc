// Implements `assay doctor`, which shows which isolation layers of the sandbox and which devices
// work on this machine. The exit status is 0 if jobs can run on the CPU. With --url it checks a
// running server instead.
#include <sys/utsname.h>

#include <cstdint>
#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/json.h"
#include "sandbox/device/choose_device.h"
#include "sandbox/device/make_device.h"
#include "sandbox/job/target.h"
#include "sandbox/pool/probe.h"
#include "server/app/exit_status.h"
#include "server/app/machine_report.h"
#include "server/app/workspace.h"
#include "server/commands/commands.h"
#include "server/commands/server_check.h"
#include "server/commands/worker_pools.h"

namespace assay::server {
namespace {

constexpr std::int64_t kWorkerStartMs = 60'000;  // the time that each worker has to start

std::string kernel_release() {
  utsname name{};
  return ::uname(&name) == 0 ? std::string(name.sysname) + " " + name.release + " " + name.machine
                             : "unknown";
}

/// Returns the device for which --device auto stands on this machine.
sandbox::DeviceChoice auto_device(const sandbox::Probe& found) {
  for (const sandbox::DriverProbe& driver : found.drivers) {
    if (driver.driver == "cuda") return sandbox::choose_auto(driver);
  }
  return {"cpu", "no driver was asked"};
}

nlohmann::json to_json(const sandbox::Probe& found, const Workspace& workspace,
                       const std::string& sanitizer) {
  nlohmann::json layers = nlohmann::json::array();
  for (const sandbox::LayerReport& layer : found.layers)
    layers.push_back({{"name", layer.name}, {"active", layer.active}, {"detail", layer.detail}});
  nlohmann::json devices = nlohmann::json::object();
  devices["cpu"] = found.sandbox_error.empty();
  devices["auto"] = auto_device(found).name;
  for (const sandbox::DriverProbe& driver : found.drivers) {
    nlohmann::json gpus = nlohmann::json::array();
    for (const sandbox::DeviceFacts& gpu : driver.gpus) {
      gpus.push_back({{"name", gpu.name},
                      {"target", gpu.target},
                      {"driver", gpu.driver},
                      {"multiprocessors", gpu.sms},
                      {"memory_bytes", gpu.memory_bytes},
                      {"l2_bytes", gpu.l2_bytes}});
    }
    devices[driver.driver] = gpus;
    devices[driver.driver + "_reason"] = driver.reason;
  }
  return {{"assay", ASSAY_VERSION},
          {"kernel", kernel_release()},
          {"python",
           {{"path", workspace.paths.python.string()},
            {"version", found.versions.python},
            {"torch", found.versions.torch},
            {"triton", found.versions.triton},
            {"nvrtc", found.versions.nvrtc},
            {"uncompiled", found.versions.uncompiled}}},
          {"operators", workspace.catalog.all().size()},
          {"sandbox",
           {{"works", found.sandbox_error.empty()},
            {"reason", found.sandbox_error},
            {"layers", layers}}},
          {"sanitizer", sanitizer},
          {"devices", devices}};
}

/// Prints the GPUs that a driver reports. Jobs can run on these GPUs only if Assay has devices with
/// the driver's name, such as "cuda:0".
void print(const sandbox::DriverProbe& driver) {
  const char* name = driver.driver.c_str();
  const bool has_device = sandbox::check_device_name(driver.driver + ":0").has_value();
  for (std::size_t i = 0; i < driver.gpus.size(); ++i) {
    const sandbox::DeviceFacts& gpu = driver.gpus[i];
    if (!has_device) {
      std::printf("  seen     %s: %s, %s; no jobs run on it yet\n", name, gpu.name.c_str(),
                  gpu.target.c_str());
      continue;
    }
    std::printf("  ok       %s:%zu: %s, %s, %lld multiprocessors, %lld MiB, driver %s; plan tier\n",
                name, i, gpu.name.c_str(), gpu.target.c_str(), static_cast<long long>(gpu.sms),
                static_cast<long long>(gpu.memory_bytes >> 20), gpu.driver.c_str());
  }
  if (driver.gpus.empty()) std::printf("  none     %s: %s\n", name, driver.reason.c_str());
}

void print(const sandbox::Probe& found, const Workspace& workspace, const std::string& sanitizer) {
  std::printf("assay %s on %s, %zu operators\n", ASSAY_VERSION, kernel_release().c_str(),
              workspace.catalog.all().size());
  std::printf("python   %s: %s, torch %s, triton %s\n", workspace.paths.python.c_str(),
              found.versions.python.c_str(), found.versions.torch.c_str(),
              found.versions.triton.c_str());
  for (const std::string& package : found.versions.uncompiled) {
    std::printf(
        "  slow     %s has no compiled Python files, so each start takes seconds longer: run "
        "`%s -m compileall -q %s`\n",
        package.c_str(), workspace.paths.python.c_str(), package.c_str());
  }
  std::printf(
      "CUDA C++ %s\n",
      found.versions.nvrtc.empty()
          ? "cannot be compiled: no NVRTC with its headers (docs/reference/cuda-submissions.md)"
          : ("NVRTC " + found.versions.nvrtc).c_str());
  std::printf(
      "sanitizer %s\n",
      sanitizer.empty()
          ? (std::string("no compute-sanitizer: ") + sandbox::kSanitizerInstallation).c_str()
          : sanitizer.c_str());
  std::printf("\nsandbox\n");
  if (!found.sandbox_error.empty()) std::printf("  MISSING  %s\n", found.sandbox_error.c_str());
  std::size_t missing = 0;
  for (const sandbox::LayerReport& layer : found.layers) {
    missing += !layer.active;
    std::printf("  %-8s %s%s%s\n", layer.active ? "ok" : "MISSING", layer.name.c_str(),
                layer.detail.empty() ? "" : ": ", layer.detail.c_str());
  }
  if (missing > 0) {
    std::printf(
        "  --isolation strict would refuse to start; best-effort names the missing layers in every "
        "verdict\n");
  } else if (found.sandbox_error.empty()) {
    std::printf("  every layer is active: --isolation strict works\n");
  }
  std::printf(
      "\ndevices\n  %-8s cpu: Triton's interpreter on small cases; compiles and records for "
      "%s\n",
      found.sandbox_error.empty() ? "ok" : "MISSING", sandbox::target_names().c_str());
  for (const sandbox::DriverProbe& driver : found.drivers) print(driver);
  const sandbox::DeviceChoice choice = auto_device(found);
  std::printf("  --device auto, the default, is %s here\n", choice.name.c_str());
}

struct DoctorOptions {
  bool as_json = false;
  std::optional<std::string> url;
  std::string token;
  std::string report;                // the file to which a report is written
  std::vector<std::string> results;  // files that the report contains
  WorkerPoolOptions workers;
};

int doctor(const DoctorOptions& options) {
  int status = kPass;
  const auto workspace = open_workspace("doctor", status);
  if (!workspace) return status;
  const sandbox::SandboxConfig config =
      sandbox_config(workspace->paths, sandbox::Isolation::best_effort);
  const sandbox::Probe found = sandbox::probe(config);
  const nlohmann::json answer = to_json(found, *workspace, config.sanitizer);
  if (!options.report.empty()) {
    if (Status written = write_machine_report(options.report, answer, options.results); !written)
      return print_error("doctor", kUsage, written.error().message);
  }
  if (options.as_json) {
    std::printf("%s\n", answer.dump(1).c_str());
  } else {
    print(found, *workspace, config.sanitizer);
    if (!options.report.empty()) std::printf("\nthe report is in %s\n", options.report.c_str());
  }
  return found.sandbox_error.empty() ? kPass : kUnavailable;
}

const char* word_of(Finding::State state) {
  switch (state) {
    case Finding::State::good: return "ok";
    case Finding::State::warning: return "warning";
    case Finding::State::problem: return "PROBLEM";
    case Finding::State::no_credentials: return "TOKEN";
  }
  return "";
}

/// Returns the findings as JSON.
nlohmann::json to_json(const std::vector<Finding>& findings) {
  nlohmann::json list = nlohmann::json::array();
  for (const Finding& finding : findings)
    list.push_back({{"name", finding.name},
                    {"state", word_of(finding.state)},
                    {"text", finding.text},
                    {"advice", finding.advice}});
  return list;
}

void print(const std::vector<Finding>& findings) {
  for (const Finding& finding : findings) {
    std::printf("  %-8s %s: %s\n", word_of(finding.state), finding.name.c_str(),
                finding.text.c_str());
    if (!finding.advice.empty()) std::printf("           %s\n", finding.advice.c_str());
  }
}

/// Checks the server at `text`, and prints the findings.
int doctor_of_server(const std::string& text, const std::string& token, bool as_json) {
  const Result<ServerUrl> url = parse_server_url(text);
  if (!url) return print_error("doctor", kUsage, url.error().message);
  const std::vector<Finding> findings = check_server(*url, token);
  if (as_json) {
    std::printf(
        "%s\n",
        nlohmann::json{{"url", url->base}, {"findings", to_json(findings)}}.dump(1).c_str());
  } else {
    print(findings);
  }
  return status_of(findings);
}

/// Starts a worker of each pool, and prints what came of it.
int doctor_of_pools(const WorkerPoolOptions& options, bool as_json) {
  const Result<std::vector<PoolSettings>> pools = chosen_pools(options);
  if (!pools) return print_error("doctor", kUsage, pools.error().message);
  int status = kPass;
  const auto workspace = open_workspace("doctor", status);
  if (!workspace) return status;
  const sandbox::SandboxConfig config =
      sandbox_config(workspace->paths, sandbox::Isolation::best_effort);
  const std::vector<Finding> findings = check_pools(*pools, *workspace, config, kWorkerStartMs);
  if (as_json) {
    std::printf("%s\n", nlohmann::json{{"findings", to_json(findings)}}.dump(1).c_str());
  } else {
    print(findings);
  }
  return status_of(findings);
}

}  // namespace

void add_doctor(CLI::App& app, int& status) {
  auto options = std::make_shared<DoctorOptions>();
  CLI::App* command = app.add_subcommand(
      "doctor", "Show which layers of the sandbox and which devices work on this machine");
  command->add_flag("--json", options->as_json, "print JSON");
  auto* url = command->add_option("--url", options->url,
                                  "check the running server at this URL instead of this machine");
  command
      ->add_option("--token", options->token,
                   "the token for that server; other users of this machine can see the command "
                   "line, so prefer the variable")
      ->envname("ASSAY_TOKEN");
  auto* report = command->add_option(
      "--report", options->report,
      "also write what this machine has and can do to this file, as JSON, for other people");
  command
      ->add_option("--results", options->results,
                   "a JSON file of results that the report contains; repeat it for more files")
      ->needs(report);
  add_worker_options(*command, options->workers);
  // The report is about this machine.
  report->excludes(url)
      ->excludes(command->get_option("--workers"))
      ->excludes(command->get_option("--worker-command"));
  command->callback([options, &status] {
    if (!options->workers.file.empty() || !options->workers.command.empty()) {
      status = doctor_of_pools(options->workers, options->as_json);
      return;
    }
    status = options->url ? doctor_of_server(*options->url, options->token, options->as_json)
                          : doctor(*options);
  });
}

}  // namespace assay::server
