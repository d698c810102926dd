// serve() is the launcher's main loop. serve() sends `ready` and answers each `launch` frame with
// exactly one `launched` or `launch_error`. serve() returns when the supervisor closes the socket.
// The caller has already created the GPU's context, so a launcher that has sent `ready` can launch
// at once. Not thread-safe.
//
//   Status ended = serve(socket, *gpu, layers, clock);
//
// After a gpu_fault the context is lost. Every further launch is then answered with a gpu_fault
// that names the case in which the context was lost.
#pragma once

#include <optional>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "sandbox/jail/layer.h"
#include "sandbox/launcher/driver/gpu_driver.h"
#include "sandbox/wire/sanitizer_tool.h"

namespace assay::sandbox {

/// Serves the socket until its peer closes it. `layers` are the isolation layers of this process's
/// jail. `sanitizer` is the tool under which this process runs, if there is one. Errors: corrupt if
/// the peer broke the protocol; io if the socket failed; unavailable if the device cannot load the
/// trusted kernels.
Status serve(int socket, GpuDriver& gpu, const std::vector<LayerReport>& layers, const Clock& clock,
             std::optional<SanitizerTool> sanitizer = {});

}  // namespace assay::sandbox
