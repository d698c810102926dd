// Defines the limits of a job.
//
//   Limits limits;
//   limits.run_wall_ms = 10'000;
//
// A plain struct.
#pragma once

#include <cstdint>

namespace assay::sandbox {

/// The limits of a job. docs/reference/limits.md documents the defaults.
struct Limits {
  std::int64_t import_wall_ms = 10'000;
  std::int64_t run_wall_ms = 60'000;     // for compiling, recording and interpreting together
  std::int64_t launch_wall_ms = 20'000;  // for the launcher's whole work on one case
  std::int64_t judge_wall_ms = 120'000;
  // Limit for the candidate's memory. A cgroup or RLIMIT_DATA enforces it.
  std::int64_t memory_bytes = 4LL << 30;
  std::int64_t gpu_memory_bytes = 32LL << 30;
  std::int64_t processes = 64;
  std::int64_t cpu_percent =
      400;  // percent of one CPU core, for all processes together; a cgroup enforces it
  std::int64_t tmp_bytes = 256LL << 20;
  // The maximum number of bytes that are kept of stdout. The same limit applies to stderr. The
  // first and the last bytes are kept.
  std::int64_t stdout_bytes = 64LL << 10;
  std::int64_t output_flood_bytes = 64LL << 20;  // printing more than this is an output_limit
  std::int64_t source_bytes = 1LL << 20;
  // For the work of the reference of a check for one request of the judge.
  std::int64_t reference_wall_ms = 30'000;
};

}  // namespace assay::sandbox
