// The number of processors that this process may use. std::thread::hardware_concurrency() counts
// all processors of the machine, also if Slurm, Kubernetes or taskset gave this process only some
// of them. A server that starts work for all of them then compiles so slowly that time limits pass.
//
//   const int jobs = std::clamp(usable_processors(), 1, kMostJobs);
//
// Thread-safe.
#pragma once

#include <vector>

#include "sandbox/jail/own_groups.h"

namespace assay::sandbox {

/// Returns the smaller of two numbers: the processors on which the kernel may run this process
/// (sched_getaffinity), and the processor time that its control groups allow it, rounded up to
/// whole processors. The result is at least 1.
int usable_processors();

/// Returns the lowest limit of processor time of these groups and of all groups above them, rounded
/// up to whole processors. Returns `otherwise` if that is less, or if there is no limit.
int limited_processors(const std::vector<OwnGroup>& groups, int otherwise);

}  // namespace assay::sandbox
