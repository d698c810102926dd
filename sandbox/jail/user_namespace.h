// The user namespace of the jail. Root inside is an ordinary user outside, and jobs run as user ids
// that own nothing on the host. The other layers get their capabilities from it. The caller must
// have one thread and be about to exec.
#pragma once

#include <sys/types.h>

#include "base/result.h"

namespace assay::sandbox {

inline constexpr uid_t kFirstSlotUid = 1000;  // inside; slot n runs as kFirstSlotUid + n

/// Enters a new user namespace with id 0 mapped to the caller. A privileged caller (root) also gets
/// `slots` ids from kFirstSlotUid on, which are mapped to a range of the host that no account uses.
/// Returns the number of ids for slots: `slots` or 0.
Result<int> enter_user_namespace(int slots);

/// Returns the user id of slot `slot` in the caller's user namespace. Errors: unavailable if the
/// caller has only one id.
Result<uid_t> slot_user(int slot);

}  // namespace assay::sandbox
