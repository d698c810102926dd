// Replays the launch plan of a case under NVIDIA Compute Sanitizer, once with each of its tools:
// memcheck (accesses outside of buffers), racecheck (races in shared memory), initcheck (reads of
// memory that nothing wrote) and synccheck (misuse of barriers).
//
//   const Sanitizer sanitizer{config, spawner, 0, "cuda"};
//   std::optional<SanitizerReport> report = sanitize_case(run, sanitizer, {prepared, 0, plan, fd});
//   if (report && !report->findings.empty()) fail_by_findings(run.verdict(), request, *report);
//
// Each tool runs in a fresh launcher, which ends afterwards. Its outputs and its times are never
// used. A failure of the sanitizer is an error of Assay and not of the submission. The functions
// with a JobExecution belong to the job's thread. The caller holds the GPU, shared or exclusively.
#pragma once

#include <optional>
#include <string>

#include "sandbox/job/config.h"
#include "sandbox/job/job_execution.h"
#include "sandbox/job/sanitizer_report.h"
#include "sandbox/launch/launching.h"
#include "sandbox/pool/process.h"

namespace assay::sandbox {

/// The number of findings that a verdict has. The report in the artifacts has more.
inline constexpr std::size_t kKeptFindings = 3;

struct Sanitizer {
  const SandboxConfig& config;
  Spawner& spawner;
  int device = 0;
  std::string driver;
};

/// Returns true if the job's cases are replayed under the sanitizer: a profile that requests it, or
/// a grade of a server that requires it.
bool wants_sanitizer(const Job& job, const SandboxConfig& config);

/// Returns the findings for one case. The first tool with a finding is the last one, because the
/// other tools are reliable only without that mistake. For a hidden case every tool runs: how long
/// a grade takes must not tell which tool found something. Reports of public cases become
/// artifacts. Returns nothing if the verdict has become an error: a plan that does not run under a
/// tool is one, unless the tool found out why.
std::optional<SanitizerReport> sanitize_case(JobExecution& run, const Sanitizer& sanitizer,
                                             const CasePlan& plan);

/// Fails the case of a report with findings. The kind is `memory_error` or `race`. If the verdict
/// has no record of the case, this function adds one.
void fail_by_findings(Verdict& verdict, const CaseRequest& request, const SanitizerReport& report);

}  // namespace assay::sandbox
