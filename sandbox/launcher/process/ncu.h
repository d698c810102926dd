// Runs Nsight Compute (ncu) around a launcher, and names the hardware counters that ncu reads. The
// first launcher builds its jail and then executes ncu. Inside the jail, ncu starts a second
// launcher, and the second launcher serves the socket as any launcher does. So ncu measures the
// counters for the same plan on the same kind of inputs as an ordinary launch. ncu reads submitted
// binaries only inside the jail.
//
//   const std::string ncu = "/opt/nvidia/nsight-compute/2025.3.1/ncu";
//   Status failed = become_ncu(ncu, "/usr/bin/assay-launcher", {"--socket-fd", "5", "--confined"});
//
// ncu writes its report as CSV to standard output; sandbox/launch reads it.
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace assay::sandbox {

/// The maximum number of kernel launches of a plan for which counters are read. There is a limit
/// because reading the counters of one launch takes several passes.
inline constexpr int kMaxCountedLaunches = 32;

/// Returns the command line that starts `launcher` under ncu.
std::vector<std::string> ncu_command(const std::string& ncu, const std::string& launcher,
                                     const std::vector<std::string>& arguments);

/// Returns the folders outside of /usr that `ncu` needs inside the jail: the folder of the program
/// and the folder of its installation. `ncu` is a path without symbolic links.
std::vector<std::string> ncu_folders(const std::string& ncu);

/// Replaces this process with ncu. Returns only on failure.
Status become_ncu(const std::string& ncu, const std::string& launcher,
                  const std::vector<std::string>& arguments);

/// A hardware counter that a profile reads (docs/explanation/profiling.md).
struct NcuMetric {
  std::string_view name;  // the counter's name in a verdict
  std::string_view ncu;   // the counter's name in ncu 2024 and 2025
};

/// The counters that a profile reads. These are only the counters that a diagnosis needs, because
/// each pass over a kernel takes time. If the device lacks a counter, ncu omits the counter from
/// the report.
inline constexpr std::array<NcuMetric, 27> kNcuMetrics = {{
    {"duration_ns", "gpu__time_duration.sum"},
    {"sm_pct", "sm__throughput.avg.pct_of_peak_sustained_elapsed"},
    {"memory_pct", "gpu__compute_memory_throughput.avg.pct_of_peak_sustained_elapsed"},
    {"dram_pct", "dram__throughput.avg.pct_of_peak_sustained_elapsed"},
    {"dram_read_bytes", "dram__bytes_read.sum"},
    {"dram_write_bytes", "dram__bytes_write.sum"},
    {"l2_bytes", "lts__t_bytes.sum"},
    {"l1_bytes", "l1tex__t_bytes.sum"},
    {"l2_hit_pct", "lts__t_sector_hit_rate.pct"},
    {"l1_hit_pct", "l1tex__t_sector_hit_rate.pct"},
    {"load_sectors_per_request",
     "l1tex__average_t_sectors_per_request_pipe_lsu_mem_global_op_ld.ratio"},
    {"store_sectors_per_request",
     "l1tex__average_t_sectors_per_request_pipe_lsu_mem_global_op_st.ratio"},
    {"shared_conflicts", "l1tex__data_bank_conflicts_pipe_lsu_mem_shared.sum"},
    {"shared_wavefronts", "l1tex__data_pipe_lsu_wavefronts_mem_shared.sum"},
    {"tensor_pct", "sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_active"},
    {"fma_pct", "sm__pipe_fma_cycles_active.avg.pct_of_peak_sustained_active"},
    {"lsu_pct", "sm__inst_executed_pipe_lsu.avg.pct_of_peak_sustained_active"},
    {"occupancy_pct", "sm__warps_active.avg.pct_of_peak_sustained_active"},
    {"theoretical_occupancy_pct", "sm__maximum_warps_per_active_cycle_pct"},
    {"waves", "launch__waves_per_multiprocessor"},
    {"registers", "launch__registers_per_thread"},
    {"local_loads", "smsp__sass_inst_executed_op_local_ld.sum"},
    {"local_stores", "smsp__sass_inst_executed_op_local_st.sum"},
    {"limit_registers", "launch__occupancy_limit_registers"},
    {"limit_shared", "launch__occupancy_limit_shared_mem"},
    {"limit_warps", "launch__occupancy_limit_warps"},
    {"limit_blocks", "launch__occupancy_limit_blocks"},
}};

/// The prefix and the suffix of the counters for the reasons why warps stall. ncu names such a
/// counter kNcuStallPrefix + reason + kNcuStallSuffix.
inline constexpr std::string_view kNcuStallPrefix = "smsp__average_warps_issue_stalled_";
inline constexpr std::string_view kNcuStallSuffix = "_per_issue_active.ratio";
inline constexpr std::array<std::string_view, 13> kNcuStalls = {"long_scoreboard",
                                                                "short_scoreboard",
                                                                "barrier",
                                                                "math_pipe_throttle",
                                                                "branch_resolve",
                                                                "wait",
                                                                "not_selected",
                                                                "lg_throttle",
                                                                "mio_throttle",
                                                                "membar",
                                                                "no_instruction",
                                                                "tex_throttle",
                                                                "gmma"};

}  // namespace assay::sandbox
