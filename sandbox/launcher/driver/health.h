// Checks that a device works: it allocates memory, fills it, lets the device copy it and reads it
// back.
//
//   LaunchStatus healthy = check_health(*gpu);   // the error says which step went wrong
//
// Each launcher checks its device before it reports that it is ready, so that no job meets a device
// that does not answer.
#pragma once

#include "sandbox/launcher/driver/gpu_driver.h"

namespace assay::sandbox {

LaunchStatus check_health(GpuDriver& gpu);

}  // namespace assay::sandbox
