// A job for an operator, by the rules that the tools, `assay eval` and `operators lint` share:
// which cases, which baseline. Pure functions.
//
//   Job job = operator_job(op, JobKind::profile, source);       // the public cases, the oracle as
//   baseline Status chosen = choose_case(job, "");                       // of them the last one
//
// Targets as callers name them: "cuda:90", "hip:gfx942". Whether the compiler knows one, the device
// says. Pure functions.
#pragma once

#include <cstddef>
#include <string>

#include "base/result.h"
#include "operators/catalog.h"
#include "sandbox/job/job.h"

namespace assay::tools {

/// compile, test and profile: the public cases; grade: all cases, in the spec's order. profile and
/// grade carry the oracle as baseline.
sandbox::Job operator_job(const operators::Operator& op, sandbox::JobKind kind, std::string source);

/// Leaves one case: the named one, or the last, which specs keep for the size that fills a GPU.
/// Errors: not_found, naming the valid ones.
Status choose_case(sandbox::Job& job, const std::string& wanted);

/// Sets what the source is written in; empty: Python. Errors: invalid_argument for an unknown
/// language, and for one that an operator of this dialect does not take.
Status choose_language(sandbox::Job& job, const std::string& wanted);

/// A case as the sandbox takes it.
sandbox::CaseRequest case_request(const operators::Case& item);

inline constexpr std::size_t kMaxTargetBytes = 24;

/// Refuses what is no target by its form, naming valid ones.
Status check_target(const std::string& target);

}  // namespace assay::tools
