// What this machine can do: versions, sandbox layers, GPUs. For `assay doctor`.
//
//   Probe found = probe(config);
//   for (const Layer& layer : found.layers) ...
//
// Starts the real zygote and parks a real candidate, so it tells what jobs will get, and takes
// seconds.
#pragma once

#include <string>
#include <vector>

#include "sandbox/job/config.h"
#include "sandbox/job/job.h"
#include "sandbox/pool/messages.h"

namespace assay::sandbox {

struct Probe {
  std::string sandbox_error;  // why no candidate could be parked; empty when one was
  Versions versions;
  std::vector<Layer> layers;
  std::vector<LauncherDevice> gpus;
  std::string gpu_reason;                // why there is none
  std::vector<LauncherDevice> hip_gpus;  // seen by HIP; there is no device for jobs on them yet
  std::string hip_reason;
};

Probe probe(const SandboxConfig& config);

}  // namespace assay::sandbox
