// Answers with the status of a job, as an agent reads it: the outcome in the first line, then what
// failed and where, the number that shows it, and the next step. It is built from the
// public verdict (tools/model/public_verdict.h). Thread-safe.
//
//   return status_answer(services, status, Format::concise);
//
// The other functions make the parts of that answer from a verdict.
#pragma once

#include <cstddef>
#include <string>

#include "base/result.h"
#include "operators/catalog.h"
#include "sandbox/job/job.h"
#include "tools/answer/answers.h"
#include "tools/model/services.h"

namespace assay::tools {

/// Returns the verdict if the job is over; otherwise the job's handle, and how to wait for it. The
/// answer is never larger than the format allows.
mcp::ToolResult status_answer(const Services& services, const JobStatus& status, Format format);

/// Returns "queued at position 3, about 5 s", for example.
std::string queue_text(const JobStatus& status);

/// Returns the text of a verdict. `op` is its operator; null if the operator is not known.
/// verdict_text.cc
std::string verdict_text(const sandbox::Verdict& verdict, const JobStatus& status, Format format,
                         const operators::Operator* op = nullptr);

/// Returns in one sentence what to do after this verdict. `op` is its operator; null if the
/// operator is not known. next_step.cc
std::string next_step(const sandbox::Verdict& verdict, const operators::Operator* op);

/// The most characters of a diagnosis. 400 tokens of 3.2 characters are 1,280; some 280 of them are
/// for the job's handle and the next step.
inline constexpr std::size_t kProfileChars = 1'000;

/// Returns the diagnosis of a profile ("memory-bound, 79 % of the roofline ..."), and after it the
/// detail that the caller asked for. Needs `verdict.profile`. The text is escaped. profile_text.cc
std::string profile_text(const sandbox::Verdict& verdict);

/// Draws a roofline as a PNG file of 900 x 600 pixels: attainable FLOP/s over FLOP per byte, both
/// logarithmic; the roof of the memory, the roof of the units that the kernels use, the submission
/// and the oracle. Errors: unavailable in a build without cairo; invalid_argument without costs to
/// draw. roofline_chart.cc
Result<std::string> roofline_png(const sandbox::Profile& profile);

}  // namespace assay::tools
