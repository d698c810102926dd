// serve: the launcher's conversation. Says `ready`, answers each `launch` with exactly one `launched` or `launch_error`, and
// returns when the supervisor closes the socket. One thread; the GPU's context was made before, so that `ready` means ready.
//
//   Status ended = serve(socket, *gpu, clock);
//
// After a gpu_fault the context is lost: every further launch is answered with a gpu_fault that names the case that lost it.
#pragma once

#include "base/clock.h"
#include "base/result.h"
#include "sandbox/launcher/gpu_driver.h"

namespace assay::sandbox {

/// Errors: corrupt (the peer broke the protocol), io.
Status serve(int socket, GpuDriver& gpu, const Clock& clock);

}  // namespace assay::sandbox
