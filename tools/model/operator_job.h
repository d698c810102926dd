// Makes a job for an operator. The tools, `assay eval` and `operators lint` share these rules:
// which cases a job has, which baseline, which language. Pure functions.
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

/// Returns a job for the operator. compile, test and profile get the public cases; grade gets all
/// cases, in the order of the spec. profile and grade have the oracle as baseline.
sandbox::Job operator_job(const operators::Operator& op, sandbox::JobKind kind, std::string source);

/// Keeps only one case of the job: the case named `wanted`. If `wanted` is empty, it keeps the last
/// case, which is large enough to fill a GPU. The error not_found names the valid cases.
Status choose_case(sandbox::Job& job, const std::string& wanted);

/// Sets the language of the source; an empty `wanted` means Python. Error: invalid_argument if the
/// language is unknown, or if operators of this dialect do not take it.
Status choose_language(sandbox::Job& job, const std::string& wanted);

/// Converts a case of a spec to the form that the sandbox takes.
sandbox::CaseRequest case_request(const operators::Case& item);

inline constexpr std::size_t kMaxTargetBytes = 24;

/// Refuses text that does not have the form of a target ("cuda:90", "hip:gfx942"). The error names
/// valid targets. Only the device knows whether its compiler supports a target.
Status check_target(const std::string& target);

}  // namespace assay::tools
