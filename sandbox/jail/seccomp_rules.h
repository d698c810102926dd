// The rules of the system call filter. Only seccomp.cc uses them.
#pragma once

#include <seccomp.h>

#include "base/result.h"
#include "sandbox/jail/seccomp.h"

namespace assay::sandbox {

/// Adds every rule to a filter whose default is to allow.
Status add_seccomp_rules(scmp_filter_ctx filter, SeccompProfile profile);

}  // namespace assay::sandbox
