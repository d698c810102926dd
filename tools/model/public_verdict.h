// Defines PublicVerdict, the part of a verdict that clients, logs and reports may see. It copies
// only the fields that may be shown, so a field that is added to Verdict later is not shown by
// accident.
//
//   const PublicVerdict shown = public_verdict(verdict, catalog.find(verdict.operator_name));
//   const std::string text = verdict_text(shown.verdict(), status, Format::concise);
//
// A submission that has got hidden cases could report about them in many ways: through the
// exceptions that it raises, the text that it prints, the names of its kernels, and the place where
// it stops. So such a grade shows only one bit about the hidden cases: whether all of them are
// right. The results of the public cases are complete before the submission gets a hidden case. A
// grade that ended before that contains nothing about the hidden cases. So its error, its hints and
// its output are shown in full. The device, not the submission, decides which of the two a grade is
// (Verdict::tells_hidden). docs/explanation/hidden-cases.md has the argument and its limits. Pure
// functions, thread-safe.
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

/// Builds the PublicVerdict of `verdict`. `op` is the verdict's operator, or null if the operator
/// is not known; without an operator, the names of cases that were not run are left out. A verdict
/// that is not a grade and has no hidden case is shown in full, except for the operator's revision:
/// that hash also covers the hidden cases.
PublicVerdict public_verdict(const sandbox::Verdict& verdict, const operators::Operator* op);

/// Returns Perf as clients and reports see it: with three significant digits. A submission that has
/// got hidden cases could encode information about them in further digits.
std::optional<double> shown_perf(std::optional<double> perf);

/// Returns the time of a job as clients see it. The time of a grade is rounded up to whole seconds.
std::int64_t shown_elapsed_ms(sandbox::JobKind kind, std::int64_t elapsed_ms);

}  // namespace assay::tools
