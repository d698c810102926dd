// Enters the namespaces of the jail: user, network, System V IPC, host name, and the pid namespace
// of a forked child. The mount namespace is in mounts.h.
//
//   Result<int> slots = enter_user_namespace(64);  // must come first: it gives capabilities
//   Status network = enter_network_namespace();
//
// In the user namespace, root is mapped to an ordinary user of the host. Jobs run with user ids
// that own nothing in the namespace. Each function changes the calling process.
#pragma once

#include <sys/types.h>

#include "base/result.h"

namespace assay::sandbox {

/// The user id of slot 0 inside the user namespace. Slot n has the user id kFirstSlotUid + n.
inline constexpr uid_t kFirstSlotUid = 1000;

/// Enters a new user namespace in which id 0 is mapped to the caller. The caller must have one
/// thread. If the caller is root, the namespace also contains one user id for each of `slots`
/// slots, starting with kFirstSlotUid. (Each running candidate has its own slot.) These ids are
/// mapped to a range of user ids of the host that no account uses. Returns the number of slots that
/// have a user id: `slots`, or 0 if the namespace contains only id 0.
Result<int> enter_user_namespace(int slots);

/// Returns the user id of slot `slot` in the caller's user namespace. Errors: unavailable if the
/// caller has only one id.
Result<uid_t> slot_user(int slot);

/// Enters a network namespace whose only interface is `lo`, and brings it up.
Status enter_network_namespace();
Status enter_ipc_namespace();
/// Enters a host name namespace and sets a constant host name.
Status enter_uts_namespace();

/// Makes the next child of this process the first process of a new pid namespace. When that child
/// dies, all its descendants die. The caller itself stays in its own namespace, and may call this
/// function again for its next child. The caller must not start a thread before it has called
/// leave_child_pid_namespace().
Status make_child_pid_namespace();
/// Undoes make_child_pid_namespace(): later children start in the caller's own pid namespace.
Status leave_child_pid_namespace();

}  // namespace assay::sandbox
