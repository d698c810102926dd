// Runs AMD's profiler rocprofv3 around a launcher, and names the hardware counters that it reads.
// The first launcher builds its jail and then runs rocprofv3 inside the jail. rocprofv3 starts a
// second launcher, and the second launcher serves the socket as any launcher does. At its end,
// rocprofv3 writes a CSV file, and the first launcher prints the file to standard output.
// sandbox/launch/rocprof_report.h reads it.
//
//   Status printed = print_counters({.rocprof = "/opt/rocm/bin/rocprofv3",
//                                    .pass = 0,
//                                    .launcher = "/usr/bin/assay-launcher",
//                                    .arguments = {"--socket-fd", "5", "--confined"}});
//
// The command line and the format are those of rocprofv3 in ROCm 6.2 to 7.0
// (github.com/ROCm/rocm-systems, projects/rocprofiler-sdk). This code has never run on AMD
// hardware. Not thread-safe: one thread starts and waits.
#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace assay::sandbox {

/// The counters that are read together. The hardware can count only a few events of each block at a
/// time (gfx90a, gfx942 and gfx950: 8 of SQ, 4 of TCC, 2 of GRBM), and rocprofv3 refuses a list
/// that needs several passes. So each pass is a run of its own.
inline constexpr std::array<std::string_view, 3> kRocprofPasses = {
    // 6 events of SQ and 1 of GRBM
    "VALUBusy MfmaUtil OccupancyPercent SQ_WAVES SQ_LDS_BANK_CONFLICT SQ_LDS_IDX_ACTIVE",
    "FETCH_SIZE",                           // 2 events of TCC on gfx90a, and 3 on gfx942 and gfx950
    "WRITE_SIZE TCC_HIT_sum TCC_MISS_sum",  // 4 events of TCC
};

/// The maximum size of the CSV file of one pass. It has a line of some 300 bytes for each counter
/// of each launch.
inline constexpr std::size_t kMaxRocprofBytes = 4 << 20;

struct RocprofCommand {
  std::string rocprof;  // absolute path
  std::size_t pass = 0;
  std::string launcher;
  std::vector<std::string> arguments = {};  // of the launcher
};

/// Returns the command line that starts the launcher under rocprofv3. rocprofv3 writes its file
/// into `folder`, under the name that rocprof_file() returns.
std::vector<std::string> rocprof_words(const RocprofCommand& command, const std::string& folder);
std::string rocprof_file(const std::string& folder);

/// Returns the folders outside of /usr that `rocprof` needs inside the jail: the installation of
/// ROCm. `rocprof` is a path without symbolic links.
std::vector<std::string> rocprof_folders(const std::string& rocprof);

/// Runs rocprofv3 to its end, and prints its file. Errors: io if rocprofv3 cannot be started, ends
/// with an error, or writes no file or one that is longer than kMaxRocprofBytes.
Status print_counters(const RocprofCommand& command);

}  // namespace assay::sandbox
