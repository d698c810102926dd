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
/// (sandbox/job/timed_cases.h); nullopt when one of them lacks either.
std::optional<double> geometric_mean_perf(const std::vector<CaseRecord>& cases);

/// Returns the sentence that an agent reads first. `allowed` is shown behind the largest error of a
/// pass: "of 0.01 allowed".
std::string summarise(const Verdict& verdict, const std::string& allowed = "");

}  // namespace assay::sandbox
