// The number of processors that this process may use. std::thread::hardware_concurrency() counts
// all processors of the machine, also if Slurm, Kubernetes or taskset gave this process only some
// of them. A server that starts work for all of them then compiles so slowly that time limits pass.
//
//   const int jobs = std::clamp(usable_processors(), 1, kMostJobs);
//
// Thread-safe.
#pragma once

#include <filesystem>
#include <string_view>

namespace assay::sandbox {

/// Returns the smaller of two numbers: the processors on which the kernel may run this process
/// (sched_getaffinity), and the processor time that its control groups of version 2 allow it,
/// rounded up to whole processors. The result is at least 1.
int usable_processors();

/// Returns the lowest limit of the file cpu.max in a control group's folder and the folders above
/// it, up to `top`, rounded up to whole processors. Returns `otherwise` if that is less, or if
/// there is no limit.
int limited_processors(const std::filesystem::path& group, const std::filesystem::path& top,
                       int otherwise);

/// Returns the path of the control group of version 2 in the text of /proc/self/cgroup, "/a/b", or
/// an empty text if there is none.
std::string_view unified_group(std::string_view text);

}  // namespace assay::sandbox
