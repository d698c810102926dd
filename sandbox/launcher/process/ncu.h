// Runs Nsight Compute around a launcher. The launcher builds its jail and executes ncu, and ncu
// starts a second launcher inside, which serves the socket as usual. So the counters belong to the
// same plan on the same kind of inputs, and ncu and the binaries that it reads stay inside the
// jail.
//
//   Status failed = become_ncu("/opt/nvidia/nsight-compute/2025.3.1/ncu",
//   "/usr/bin/assay-launcher",
//                              {"--socket-fd", "5", "--device", "0", "--confined"});
//
// ncu writes its report as CSV to standard output; sandbox/launch reads it.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"

namespace assay::sandbox {

/// Counters are read for at most this many kernel launches of a plan, because each takes several
/// passes.
inline constexpr int kMaxCountedLaunches = 32;

/// Returns the whole command line.
std::vector<std::string> ncu_command(const std::string& ncu, const std::string& launcher,
                                     const std::vector<std::string>& arguments);

/// Returns the folders outside of /usr that `ncu` needs inside the jail: its own and that of its
/// installation. `ncu` is a path without links.
std::vector<std::string> ncu_folders(const std::string& ncu);

/// Replaces this process by ncu. Returns only if that failed.
Status become_ncu(const std::string& ncu, const std::string& launcher,
                  const std::vector<std::string>& arguments);

}  // namespace assay::sandbox
