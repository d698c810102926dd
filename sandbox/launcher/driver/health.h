// Whether a device can still do its work: memory is allocated, filled, copied by the device and
// read back.
//
//   if (LaunchStatus well = check_health(*gpu); !well) ...       // the message says what was not
//   as it should be
//
// Each launcher asks before it says that it is ready, so that a job never meets a device that does
// not answer.
#pragma once

#include "sandbox/launcher/driver/gpu_driver.h"

namespace assay::sandbox {

LaunchStatus check_health(GpuDriver& gpu);

}  // namespace assay::sandbox
