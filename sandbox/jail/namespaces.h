// Enters the namespaces that need one call each: network, System V IPC, host name, and the pid
// namespace of a forked child.
#pragma once

#include "base/result.h"

namespace assay::sandbox {

/// Enters a network namespace whose only interface is `lo`, and brings it up.
Status enter_network_namespace();
Status enter_ipc_namespace();
/// Enters a host name namespace with a constant name.
Status enter_uts_namespace();

/// Makes the next child of this process the first process of a new pid namespace. When that child
/// dies, all its descendants die. The caller itself stays in its namespace, and may call this again
/// for its next child. It cannot start a thread before leave_child_pid_namespace().
Status make_child_pid_namespace();
/// Makes the following children start in the caller's own pid namespace again.
Status leave_child_pid_namespace();

}  // namespace assay::sandbox
