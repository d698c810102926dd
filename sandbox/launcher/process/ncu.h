// Nsight Compute around a launcher: the launcher builds its jail, becomes ncu, and ncu starts a
// second launcher inside, which serves the socket as ever. So counters are of the same plan on the
// same kind of inputs, and neither ncu nor the binaries that it sees leave the jail.
//
//   become_ncu("/opt/nvidia/nsight-compute/2025.3.1/ncu", "/usr/bin/assay-launcher",
//   {"--socket-fd", "5", "--device", "0", "--confined"});
//
// ncu writes its report as CSV to standard output (read by sandbox/launch/ncu_report.h).
#pragma once

#include <string>
#include <vector>

#include "base/result.h"

namespace assay::sandbox {

/// Most kernel launches of a plan that are counted: each takes several passes.
inline constexpr int kMaxCountedLaunches = 32;

/// The whole command line.
std::vector<std::string> ncu_command(const std::string& ncu, const std::string& launcher,
                                     const std::vector<std::string>& arguments);

/// Folders outside of /usr that must be visible inside for `ncu`, a path without links, to run: its
/// own, and where its installation lies.
std::vector<std::string> ncu_folders(const std::string& ncu);

/// Replaces this process. Returns only when that failed.
Status become_ncu(const std::string& ncu, const std::string& launcher,
                  const std::vector<std::string>& arguments);

}  // namespace assay::sandbox
