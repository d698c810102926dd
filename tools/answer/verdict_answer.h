// A job's status as an agent reads it: first line the outcome, then what failed, where, the number
// that shows it, the next step. Hidden cases are redacted here and nowhere else. Thread-safe.
#pragma once

#include <string>

#include "operators/catalog.h"
#include "tools/answer/answers.h"
#include "tools/model/services.h"

namespace assay::tools {

/// A verdict when the job is over, else a job handle and how to go on. Never larger than the format
/// allows.
mcp::ToolResult status_answer(const Services& services, const JobStatus& status, Format format);

/// "queued at position 3, about 5 s"
std::string queue_text(const JobStatus& status);

/// The text of a verdict, already redacted. `op`: what it is for, null where that is not known.
/// verdict_text.cc
std::string verdict_text(const sandbox::Verdict& verdict, const JobStatus& status, Format format,
                         const operators::Operator* op = nullptr);

/// What to do after this verdict, already redacted, in one sentence. `op`: what it was for, null
/// where that is gone. next_step.cc
std::string next_step(const sandbox::Verdict& verdict, const operators::Operator* op);

}  // namespace assay::tools
