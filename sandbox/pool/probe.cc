#include "sandbox/pool/probe.h"

#include <array>
#include <cstdio>
#include <memory>
#include <utility>

#include "sandbox/pool/candidate_pool.h"
#include "sandbox/pool/process.h"
#include "sandbox/wire/launch_reply.h"

namespace assay::sandbox {
namespace {

constexpr std::size_t kMaxProbeBytes = 1 << 20;
// The drivers that the launcher can load.
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

/// Returns the output of the launcher's probe. This process never loads a driver itself.
std::string launcher_output(const std::string& launcher, const std::string& driver) {
  std::string text;
  FILE* pipe =
      ::popen(("'" + launcher + "' --probe --driver " + driver + " 2>/dev/null").c_str(), "r");
  if (pipe == nullptr) return text;
  std::array<char, 4096> chunk{};
  while (text.size() < kMaxProbeBytes) {
    const std::size_t got = std::fread(chunk.data(), 1, chunk.size(), pipe);
    if (got == 0) break;
    text.append(chunk.data(), got);
  }
  ::pclose(pipe);
  return text;
}

DriverProbe probe_driver(const SandboxConfig& config, const std::string& driver) {
  const std::string output = launcher_output(config.launcher, driver);
  if (output.empty()) return {driver, {}, config.launcher + " --probe gave no answer"};
  Result<LauncherProbe> found = parse_launcher_probe(output);
  if (!found) return {driver, {}, config.launcher + " --probe: " + found.error().message};
  return {driver, std::move(found->devices), std::move(found->reason)};
}

}  // namespace

Probe probe(const SandboxConfig& config) {
  Probe found;
  probe_sandbox(config, found);
  for (const std::string driver : kDrivers) found.drivers.push_back(probe_driver(config, driver));
  return found;
}

}  // namespace assay::sandbox
