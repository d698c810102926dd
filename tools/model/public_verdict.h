// PublicVerdict: what clients, logs and reports may learn of a verdict. It is built from the parts
// that may be said, so a field that nobody thought of stays out.
//
//   const PublicVerdict shown = public_verdict(verdict, catalog.find(verdict.operator_name));
//   const std::string text = verdict_text(shown.verdict(), status, Format::concise);
//
// A submission that has got hidden cases can choose what it raises, prints, names its kernels and
// where it stops. So of a grade whose submission has got them, only one bit about the hidden cases
// is said: whether all of them are right. What is said of the public cases was complete before. A
// grade that ended before has nothing of the hidden cases in it and is shown in full. The device
// knows which of the two it is (Verdict::tells_hidden); no claim of the submission decides it.
// docs/explanation/hidden-cases.md has the argument and its limits. Pure functions, thread-safe.
#pragma once

#include <cstdint>
#include <optional>
#include <utility>

#include "operators/catalog.h"
#include "sandbox/job/job.h"

namespace assay::tools {

class PublicVerdict {
 public:
  const sandbox::Verdict& verdict() const { return verdict_; }

 private:
  explicit PublicVerdict(sandbox::Verdict verdict) : verdict_(std::move(verdict)) {}
  friend PublicVerdict public_verdict(const sandbox::Verdict& verdict,
                                      const operators::Operator* op);

  sandbox::Verdict verdict_;
};

/// Builds it. `op` is the operator of the verdict; null if it is not known, and then names of cases
/// that were not run are left out. A verdict of public cases only is shown in full.
PublicVerdict public_verdict(const sandbox::Verdict& verdict, const operators::Operator* op);

/// Returns Perf as clients and reports see it: with three significant digits, because a submission
/// that has got hidden cases could write into the others.
std::optional<double> shown_perf(std::optional<double> perf);

/// Returns the time of a job as clients see it: in a grade, rounded up to whole seconds.
std::int64_t shown_elapsed_ms(sandbox::JobKind kind, std::int64_t elapsed_ms);

}  // namespace assay::tools
