// Replays the launch plan of a case under NVIDIA Compute Sanitizer, once with each of its tools.
// memcheck finds accesses outside of buffers, racecheck finds races in shared memory, initcheck
// finds reads of memory that nothing wrote, and synccheck finds misuse of barriers.
//
//   const Sanitizer sanitizer{config, spawner, 0, "cuda"};
//   std::optional<SanitizerReport> report = sanitize_case(run, sanitizer, {prepared, 0, plan, fd});
//   if (report && !report->findings.empty()) fail_by_findings(run.verdict(), request, *report);
//
// A new launcher runs for each tool and ends afterwards. Assay never uses the outputs and times of
// such a launcher. A failure of the sanitizer is an error of Assay and not of the submission. Call
// the functions that take a JobExecution only on the job's thread. The caller holds the GPU lock,
// shared or exclusively.
#pragma once

#include <optional>
#include <string>

#include "sandbox/job/config.h"
#include "sandbox/job/job_execution.h"
#include "sandbox/job/sanitizer_report.h"
#include "sandbox/launch/launching.h"
#include "sandbox/pool/process.h"

namespace assay::sandbox {

/// The maximum number of findings in a verdict. The report in the artifacts has all findings.
inline constexpr std::size_t kKeptFindings = 3;

struct Sanitizer {
  const SandboxConfig& config;
  Spawner& spawner;
  int device = 0;
  std::string driver;
};

/// Returns true if the job's cases are replayed under the sanitizer. This is so for a profile that
/// requests the sanitizer, and for a grade if the server's configuration requires it.
bool wants_sanitizer(const Job& job, const SandboxConfig& config);

/// Returns why no case can be replayed under the sanitizer, or an empty text if cases can. On an
/// AMD GPU the sanitizer would see no kernel, and its silence would not mean that there are no
/// errors.
std::string sanitizer_problem(const SandboxConfig& config, const std::string& driver);

/// Returns the findings for one case. Runs the tools in order, and stops after the first tool that
/// has a finding, because the other tools are not reliable for such a plan. For a hidden case every
/// tool runs, because the duration of a grade must not reveal which tool found something. Reports
/// of public cases become artifacts. Returns nothing if the verdict has become an error. The
/// verdict becomes an error if a tool fails, or if the plan fails under a tool that has no finding.
std::optional<SanitizerReport> sanitize_case(JobExecution& run, const Sanitizer& sanitizer,
                                             const CasePlan& plan);

/// Fails the case that has these findings, with the error kind `memory_error` or `race`. If the
/// verdict has no record of the case, this function adds one.
void fail_by_findings(Verdict& verdict, const CaseRequest& request, const SanitizerReport& report);

}  // namespace assay::sandbox
