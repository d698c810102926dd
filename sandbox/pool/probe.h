// Finds the software versions, the isolation layers and the GPUs of this machine. `assay doctor`
// prints the result.
//
//   Probe found = probe(config);
//   for (const LayerReport& layer : found.layers) std::puts(layer.name.c_str());
//
// probe() starts a zygote and parks a candidate, as for a job. So the reported versions and
// isolation layers are those that a job would have. The call takes seconds.
#pragma once

#include <string>
#include <vector>

#include "sandbox/jail/layer.h"
#include "sandbox/job/config.h"
#include "sandbox/job/job.h"
#include "sandbox/pool/versions.h"
#include "sandbox/wire/device_facts.h"

namespace assay::sandbox {

/// The GPUs that the launcher finds through one driver.
struct DriverProbe {
  std::string driver;  // "cuda" or "hip"
  std::vector<DeviceFacts> gpus;
  std::string reason;  // why no GPU was found
};

struct Probe {
  std::string sandbox_error;  // why no candidate could be parked, or empty
  Versions versions;
  std::vector<LayerReport> layers;
  std::vector<DriverProbe> drivers;
};

Probe probe(const SandboxConfig& config);

/// Starts the launcher to list the GPUs of one driver: "cuda", "hip" or, in tests, "fake".
DriverProbe probe_driver(const SandboxConfig& config, const std::string& driver);

}  // namespace assay::sandbox
