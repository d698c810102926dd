// Performs the launch plans of one submission, case by case, in a launcher of their own.
//
//   std::optional<std::vector<LaunchedCase>> launched = launch_cases(run, launchers, prepared, results->cases, timed);
//   if (!launched) return;                          // run's verdict says why
#pragma once

#include <optional>
#include <vector>

#include "sandbox/device/job_run.h"
#include "sandbox/pool/judge.h"
#include "sandbox/pool/launcher_client.h"

namespace assay::sandbox {

struct LaunchedCase {
  Launched result;
  UniqueFd output;          // the memory file that result.outputs describe
};

struct LaunchedCases {
  std::vector<LaunchedCase> cases;   // in the order of the plans
  LauncherDevice device;
};

/// `plans` in the order of `prepared.cases`. `timed`: measure as well. Whatever goes wrong, and every way in which a kernel can take the device down,
/// ends the run with its kind.
std::optional<LaunchedCases> launch_cases(JobRun& run, LauncherNursery& launchers, const PreparedJob& prepared, const std::vector<CaseDone>& plans, bool timed);

}  // namespace assay::sandbox
