// The last check of a verdict before it is stored: a pass is positive evidence, one complete
// passing record per case of the job, whatever device it came from. Pure, thread-safe.
#pragma once

#include <string>

#include "sandbox/job/job.h"

namespace assay::server {

/// Returns the verdict, stamped with the job's id, kind and operator; a pass that lacks a record
/// becomes an internal_error that names the case.
sandbox::Verdict checked_verdict(const sandbox::Job& job, sandbox::Verdict verdict);

/// A verdict that says why a job has none of its own.
sandbox::Verdict verdict_without_execution(const sandbox::Job& job, sandbox::ErrorKind kind,
                                           std::string summary);

/// True when the submission is not to blame and the attempt should not count.
bool is_ours(sandbox::ErrorKind kind);

}  // namespace assay::server
