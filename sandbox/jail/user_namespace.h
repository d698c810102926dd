// The user namespace: root inside is nobody in particular outside, and jobs get user ids that own
// nothing on the host. Everything else in the jail that needs a capability gets it from here. For a
// single-threaded process that is about to exec.
#pragma once

#include <sys/types.h>

#include "base/result.h"

namespace assay::sandbox {

inline constexpr uid_t kFirstSlotUid = 1000;  // inside; slot n runs as kFirstSlotUid + n

/// Enters a new user namespace with 0 mapped to the caller. A caller that may (root) also gets
/// `slots` ids from kFirstSlotUid on, mapped to a range of the host that no account uses; returns
/// how many ids for slots there are: `slots` or 0.
Result<int> enter_user_namespace(int slots);

/// The user id that slot `slot` runs as, in the caller's user namespace. Errors: unavailable when
/// the caller has one id only.
Result<uid_t> slot_user(int slot);

}  // namespace assay::sandbox
