// Puts a verdict together. The one place that decides between pass, fail and error, used by every
// device.
//
//   Verdict verdict = begin_verdict(job);
//   ... records are added as the judge writes them ...
//   conclude(verdict, required_case_ids);
//
// The rule: `pass` needs exactly one complete, passing record for each required case, and at least
// one required case. Everything else is a failure with a kind. Not thread-safe: one verdict belongs
// to one thread.
//
// Which of a job's cases are timed, and make up its Perf: those that move, or compute, at least an
// eighth of what the largest one does.
//
//   std::vector<bool> timed = worth_timing({{.bytes = 2e8, .flops = 6e7}, {.bytes = 1e5, .flops =
//   3e4}});      // {true, false}
//
// Small cases are there to be right. They take a GPU one to three microseconds, and as much as a
// tenth of that differs from one launcher process to the next, which no number of samples takes
// out: there are several to an operator, and they moved its Perf by some percent from one grade to
// the next (docs/explanation/timing.md). It is the spec's cost that decides, not a measured time,
// so that it is the same cases on every device and every day. Pure, thread-safe.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sandbox/job/job.h"

namespace assay::sandbox {

/// Identity of the job and of its source, nothing else.
Verdict begin_verdict(const Job& job);

/// Ends the verdict as an error. The first call wins: what ended a job is what went wrong first.
void end_with_error(Verdict& verdict, ErrorKind kind, Stage stage, std::string detail);

/// Decides the outcome from the case records and writes the summary. Leaves a verdict that already
/// ended in an error as it is, but for the summary. `error_kind` of a failed verdict is that of its
/// first failing case.
void conclude(Verdict& verdict, const std::vector<std::string>& required_cases);

/// Adds a hint, unless the verdict has one of the same kind and text.
void add_hint(Verdict& verdict, Hint hint);

/// A judged case: `kind` is none, wrong_result or output_mismatch.
void add_record(Verdict& verdict, CaseRecord record, ErrorKind kind);

/// Geometric mean of oracle latency / submission latency over the cases worth timing
/// (sandbox/job/verdict_builder.h); nullopt when one of them lacks either.
std::optional<double> geometric_mean_perf(const std::vector<CaseRecord>& cases);

/// Returns the sentence that an agent reads first. `allowed` is shown behind the largest error of a
/// pass: "of 0.01 allowed".
std::string summarise(const Verdict& verdict, const std::string& allowed = "");

inline constexpr double kLeastCostShare = 0.125;

struct CaseCost {
  double bytes = 0, flops = 0;
};

std::vector<CaseCost> costs_of(const std::vector<CaseRecord>& records);

/// One for each cost. Where there are no costs (an imported operator, a simulated device), all.
std::vector<bool> worth_timing(const std::vector<CaseCost>& costs);

}  // namespace assay::sandbox
