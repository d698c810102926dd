// Builds a verdict. Only these functions decide between pass, fail and error, and choose the cases
// that count in Perf. Every device uses them.
//
//   Verdict verdict = begin_verdict(job);
//   add_record(verdict, record, ErrorKind::none);
//   conclude(verdict, {"small", "large"});
//
// A pass needs exactly one complete, passing record for each required case, and at least one
// required case. Every other verdict is a failure or an error, and has an error kind.
//
// Perf counts the cases whose traffic or arithmetic is at least an eighth of the largest case's:
//
//   std::vector<bool> timed = worth_timing(
//       {{.bytes = 2e8, .flops = 6e7}, {.bytes = 1e5, .flops = 3e4}});  // {true, false}
//
// Small cases only check correctness. On a GPU such a case takes one to three microseconds. This
// time differs by up to a tenth from one launcher process to the next, even with many samples. An
// operator has several small cases, so including them would change its Perf by several percent from
// grade to grade (docs/explanation/timing.md). The choice depends on the cost in the specification
// and not on a measured time. So the same cases count on every device and every day.
//
// Not thread-safe: a verdict belongs to one thread.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sandbox/job/job.h"

namespace assay::sandbox {

/// Returns a verdict with only the identity of the job and of its source.
Verdict begin_verdict(const Job& job);

/// Returns true if the job has the source of an oracle, here or elsewhere.
bool has_oracle(const Job& job);

/// Ends the verdict with an error. If the verdict already has an error, keeps the earlier error.
void end_with_error(Verdict& verdict, ErrorKind kind, Stage stage, std::string detail);

/// Adds the record of a judged case. `kind` is none, wrong_result or output_mismatch.
void add_record(Verdict& verdict, CaseRecord record, ErrorKind kind);

/// Adds a hint, unless the verdict has a hint of the same kind and text.
void add_hint(Verdict& verdict, Hint hint);

/// Decides the outcome from the case records and writes the summary. A verdict that already has an
/// error keeps the error, and only gets the summary. A failed verdict gets the error kind of its
/// first failing case.
void conclude(Verdict& verdict, const std::vector<std::string>& required_cases);

/// Returns the sentence that an agent reads first. If the verdict is a pass, the sentence states
/// the largest error, followed by `allowed`, for example "of 0.01 allowed".
std::string summarise(const Verdict& verdict, const std::string& allowed = "");

/// A case is timed if its traffic or arithmetic is at least this share of the largest case's
/// traffic or arithmetic.
inline constexpr double kLeastCostShare = 0.125;

struct CaseCost {
  double bytes = 0, flops = 0;
};

std::vector<CaseCost> costs_of(const std::vector<CaseRecord>& records);

/// Returns for each cost whether the case with this cost is timed. If all costs are 0, as for an
/// imported operator or a simulated device, all cases are timed.
std::vector<bool> worth_timing(const std::vector<CaseCost>& costs);

/// Returns the geometric mean of baseline latency / submission latency, over the cases that
/// worth_timing() selects. Returns nothing if one of these cases lacks a latency.
std::optional<double> geometric_mean_perf(const std::vector<CaseRecord>& cases);

}  // namespace assay::sandbox
