#include "sandbox/sanitize/sanitizing.h"

#include <algorithm>
#include <memory>
#include <utility>
#include <variant>
#include <vector>

#include "sandbox/job/verdict_builder.h"
#include "sandbox/launcher/process/sanitizer.h"
#include "sandbox/pool/launcher_client.h"
#include "sandbox/sanitize/report_xml.h"

namespace assay::sandbox {
namespace {

// The number of bytes of the sanitizer's printed output that an artifact keeps.
constexpr std::size_t kPrintedBytes = 64U << 10;

/// The result of one tool for one case.
struct Watched {
  Result<std::vector<SanitizerFinding>> findings;
  std::string raw = {};  // the report, and what the tool printed
};

/// Returns the findings of a run that has ended. If there is no finding but the plan or the
/// sanitizer failed, returns an error, because the tool may not have checked every launch.
Result<std::vector<SanitizerFinding>> findings_of(const LaunchOutcome& outcome,
                                                  const Sanitized& ended, SanitizerTool tool,
                                                  const std::string& source) {
  if (ended.report.empty())
    return fail(ErrorCode::unavailable,
                "it wrote no report, and its exit status is " + std::to_string(ended.exit_status));
  Result<std::vector<SanitizerFinding>> findings =
      read_sanitizer_report(ended.report, tool, source);
  if (!findings || !findings->empty()) return findings;
  if (const auto* failure = std::get_if<LaunchFailure>(&outcome))
    return fail(ErrorCode::unavailable, "the plan did not run: " + failure->error.message);
  if (ended.exit_status != 0)
    return fail(ErrorCode::unavailable, "its exit status is " + std::to_string(ended.exit_status));
  return findings;
}

Watched watch(JobExecution& run, const Sanitizer& with, const CasePlan& plan, SanitizerTool tool) {
  const Deadline deadline = run.deadline(with.config.sanitize_wall_ms);
  const LauncherOptions options{.device = with.device,
                                .driver = with.driver,
                                .sanitizer = LauncherSanitizer{with.config.sanitizer, tool}};
  Result<std::unique_ptr<LauncherClient>> launcher =
      LauncherClient::start(with.config, with.spawner, options, deadline);
  if (!launcher) return {fail(launcher.error())};
  const LaunchFiles files = launch_files({}, plan.prepared, plan.index, plan.output_fd,
                                         run.job().limits.gpu_memory_bytes);
  Result<LaunchOutcome> outcome =
      (*launcher)->launch(files.request, plan.plan, files.fds, deadline);
  if (!outcome) return {fail(outcome.error()), (*launcher)->printed(kPrintedBytes)};
  Result<Sanitized> ended = (*launcher)->finish_sanitized(deadline);
  if (!ended) return {fail(ended.error()), (*launcher)->printed(kPrintedBytes)};
  return {findings_of(*outcome, *ended, tool, run.job().source),
          ended->report + "\n" + (*launcher)->printed(kPrintedBytes)};
}

bool is_race(SanitizerTool tool) {
  return tool == SanitizerTool::racecheck || tool == SanitizerTool::synccheck;
}

std::string reason_of(const SanitizerReport& report) {
  std::string text = finding_text(report.findings.front());
  if (report.total >= kMaxSanitizerRecords)
    text += " (" + std::to_string(kMaxSanitizerRecords) + " or more findings)";
  else if (report.total > 1)
    text += " (the first of " + std::to_string(report.total) + " findings)";
  return text;
}

}  // namespace

bool wants_sanitizer(const Job& job, const SandboxConfig& config) {
  return (job.kind == JobKind::profile && job.detail == ProfileDetail::sanitize) ||
         (job.kind == JobKind::grade && config.sanitize);
}

std::string sanitizer_problem(const SandboxConfig& config, const std::string& driver) {
  if (driver == "hip")
    return "NVIDIA Compute Sanitizer does not see kernels on AMD's GPUs, and Assay uses no other "
           "sanitizer; leave out detail=sanitize and --sanitize";
  if (config.sanitizer.empty())
    return std::string("NVIDIA Compute Sanitizer was not found; ") + kSanitizerInstallation;
  return "";
}

std::optional<SanitizerReport> sanitize_case(JobExecution& run, const Sanitizer& sanitizer,
                                             const CasePlan& plan) {
  const std::string& id = plan.prepared.cases[plan.index].id;
  const auto request = std::find_if(run.job().cases.begin(), run.job().cases.end(),
                                    [&](const CaseRequest& one) { return one.id == id; });
  const bool hidden = request == run.job().cases.end() || request->hidden;
  SanitizerReport report;
  report.case_id = id;
  run.enter(Stage::launch);
  for (const SanitizerTool tool : kSanitizerTools) {
    const std::string name(to_string(tool));
    Watched watched = watch(run, sanitizer, plan, tool);
    if (!hidden && !watched.raw.empty())
      run.verdict().artifacts.push_back({"sanitizer", id + " " + name, std::move(watched.raw)});
    if (!watched.findings) {
      run.fail_infrastructure(watched.findings.error(),
                              "replaying case '" + id + "' under the sanitizer's " + name);
      return std::nullopt;
    }
    report.tools.push_back(tool);
    report.total += static_cast<std::int64_t>(watched.findings->size());
    for (SanitizerFinding& finding : *watched.findings) {
      if (report.findings.size() < kKeptFindings) report.findings.push_back(std::move(finding));
    }
    if (!hidden && report.total > 0) break;
  }
  run.verdict().sanitizer = report;
  return report;
}

void fail_by_findings(Verdict& verdict, const CaseRequest& request, const SanitizerReport& report) {
  const ErrorKind kind =
      is_race(report.findings.front().tool) ? ErrorKind::race : ErrorKind::memory_error;
  auto record = std::find_if(verdict.cases.begin(), verdict.cases.end(),
                             [&](const CaseRecord& one) { return one.id == request.id; });
  if (record == verdict.cases.end()) {
    CaseRecord failed;
    failed.id = request.id;
    failed.hidden = request.hidden;
    record = verdict.cases.insert(record, std::move(failed));
  }
  record->outcome = Outcome::fail;
  record->reason = reason_of(report);
  verdict.outcome = Outcome::fail;
  if (verdict.error_kind == ErrorKind::none) verdict.error_kind = kind;
}

}  // namespace assay::sandbox
