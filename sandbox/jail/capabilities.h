// Drops all capabilities of the process for good.
#pragma once

#include "base/result.h"

namespace assay::sandbox {

/// Empties the bounding and ambient sets. Needs CAP_SETPCAP for the first: call before changing
/// user ids.
Status drop_capability_bounds();

/// Empties effective, permitted and inheritable sets of this thread.
Status drop_capabilities();

}  // namespace assay::sandbox
