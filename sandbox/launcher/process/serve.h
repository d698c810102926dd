// serve is the launcher's main loop. It sends `ready`, answers each `launch` with exactly one
// `launched` or `launch_error`, and returns when the supervisor closes the socket. The caller has
// made the GPU's context, so a launcher that sent `ready` can launch at once. Not thread-safe.
//
//   Status ended = serve(socket, *gpu, layers, clock);
//
// After a gpu_fault the context is lost: every further launch is answered with a gpu_fault that
// names the case that lost it.
#pragma once

#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "sandbox/jail/layer.h"
#include "sandbox/launcher/driver/gpu_driver.h"

namespace assay::sandbox {

/// `layers` are those of this process's jail. Errors: corrupt (the peer broke the protocol), io.
Status serve(int socket, GpuDriver& gpu, const std::vector<LayerReport>& layers,
             const Clock& clock);

}  // namespace assay::sandbox
