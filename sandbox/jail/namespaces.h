// The namespaces that need nothing but a call: network (only a loopback), System V IPC and host
// name; and the pid namespace of a forked child.
#pragma once

#include "base/result.h"

namespace assay::sandbox {

/// A network namespace whose only interface is `lo`, up.
Status enter_network_namespace();
Status enter_ipc_namespace();
/// A host name namespace with a constant name.
Status enter_uts_namespace();

/// The next child of this process becomes process 1 of a new pid namespace: when it dies, all its
/// descendants die. May be called again for the child after it; the caller itself stays where it
/// is. No thread can be started between this call and leave_child_pid_namespace().
Status make_child_pid_namespace();
/// Children are again born into the caller's own pid namespace.
Status leave_child_pid_namespace();

}  // namespace assay::sandbox
