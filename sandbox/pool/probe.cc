#include "sandbox/pool/probe.h"

#include <sys/mman.h>

#include <array>
#include <cstdint>
#include <memory>
#include <utility>

#include "base/files.h"
#include "base/unique_fd.h"
#include "sandbox/jail/amd_nodes.h"
#include "sandbox/pool/candidate_pool.h"
#include "sandbox/pool/process.h"
#include "sandbox/wire/launch_reply.h"

namespace assay::sandbox {
namespace {

constexpr std::size_t kMaxProbeBytes = 1 << 20;
// The time limit of the probe. A driver can take seconds to start.
constexpr std::int64_t kProbeMs = 60'000;
// The names of the drivers that the launcher can load.
constexpr std::array kDrivers = {"cuda", "hip"};

void probe_sandbox(const SandboxConfig& config, Probe& found) {
  Spawner spawner;
  CandidatePool pool(config, spawner);
  Result<std::unique_ptr<Candidate>> candidate =
      pool.take(config.job_limits, Deadline::after_ms(config.zygote_ready_ms));
  if (!candidate) {
    found.sandbox_error = candidate.error().message;
    return;
  }
  const auto facts = pool.facts();
  if (facts) {
    found.versions = facts->versions;
    found.layers = facts->layers;
  }
  pool.give_back(std::move(*candidate));
}

/// Starts the launcher with --probe and returns its output. So this process never loads a driver.
Result<std::string> launcher_output(const std::string& launcher, const std::string& driver) {
  const UniqueFd output(::memfd_create("assay-probe", MFD_CLOEXEC));
  if (!output) return fail_errno("memfd_create");
  Spawner spawner;
  Result<Process> process = spawner.spawn({.argv = {launcher, "--probe", "--driver", driver},
                                           .environment = trusted_environment(),
                                           .inherit = {},
                                           .log = "",
                                           .output = output.get()});
  if (!process) return fail(process.error());
  if (!process->wait(Deadline::after_ms(kProbeMs)))
    return fail(ErrorCode::unavailable,
                launcher + " --probe took more than " + std::to_string(kProbeMs / 1000) + " s");
  return read_small_file("/proc/self/fd/" + std::to_string(output.get()), kMaxProbeBytes);
}

}  // namespace

DriverProbe probe_driver(const SandboxConfig& config, const std::string& driver) {
  const Result<std::string> output = launcher_output(config.launcher, driver);
  if (!output) return {driver, {}, output.error().message};
  if (output->empty()) return {driver, {}, config.launcher + " --probe gave no answer"};
  Result<LauncherProbe> found = parse_launcher_probe(*output);
  if (!found) return {driver, {}, config.launcher + " --probe: " + found.error().message};
  std::string reason = std::move(found->reason);
  // The kernel driver's tables say more than the runtime's error, for example which group is
  // missing.
  if (driver == "hip" && found->devices.empty()) {
    if (const std::string problem = amd_problem(read_amd_machine()); !problem.empty())
      reason = problem + " (" + reason + ")";
  }
  return {driver, std::move(found->devices), std::move(reason)};
}

Probe probe(const SandboxConfig& config) {
  Probe found;
  probe_sandbox(config, found);
  for (const std::string driver : kDrivers) found.drivers.push_back(probe_driver(config, driver));
  return found;
}

}  // namespace assay::sandbox
