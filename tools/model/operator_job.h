// Makes a job for an operator. The tools, `assay eval` and `operators lint` share the rules in this
// file: which cases, which baseline and which language a job has. Pure functions.
//
//   sandbox::Job job = operator_job(op, sandbox::JobKind::profile, source);
//   if (const Status chosen = choose_case(job, "large"); !chosen) return fail(chosen.error());
//   if (const Status valid = check_target("cuda:90"); !valid) return fail(valid.error());
#pragma once

#include <cstddef>
#include <string>

#include "base/result.h"
#include "operators/catalog.h"
#include "sandbox/job/job.h"

namespace assay::tools {

/// Returns a job for the operator. Jobs of the kinds compile, test and profile get the public
/// cases; a grade gets all cases. Jobs of the kinds profile and grade get the oracle as baseline.
sandbox::Job operator_job(const operators::Operator& op, sandbox::JobKind kind, std::string source);

/// Removes all cases of the job except the case named `wanted`. If `wanted` is empty, the last case
/// stays, because it is large enough to fill a GPU. Errors: not_found if there is no such case, and
/// the message lists the valid cases.
Status choose_case(sandbox::Job& job, const std::string& wanted);

/// Sets the language of the source. An empty `wanted` means Python. Errors: invalid_argument if the
/// language is unknown, or if operators of this dialect do not accept the language.
Status choose_language(sandbox::Job& job, const std::string& wanted);

/// Converts a case of a spec to the type that the sandbox uses.
sandbox::CaseRequest case_request(const operators::Case& item);

inline constexpr std::size_t kMaxTargetBytes = 24;

/// Returns an error if the text does not have the form of a target ("cuda:90", "hip:gfx942"). The
/// error names valid targets. Whether the compiler supports the target is not checked; only the
/// device knows that.
Status check_target(const std::string& target);

}  // namespace assay::tools
