// Builds the answer that tells an agent the status of a job: the outcome in the first line, then
// what failed and where, the number that shows the failure, and the next step. The answer is built
// from the public verdict (tools/model/public_verdict.h). Thread-safe.
//
//   return status_answer(services, principal, status, Format::concise);
//
// The other functions build parts of that answer from a verdict.
#pragma once

#include <cstddef>
#include <string>

#include "base/result.h"
#include "operators/catalog.h"
#include "sandbox/job/job.h"
#include "tools/answer/answers.h"
#include "tools/model/services.h"

namespace assay::tools {

/// Answers with the verdict if the job is over. Otherwise it answers with the job's handle, and
/// says how to wait for the job. The answer is never larger than `format` allows.
mcp::ToolResult status_answer(const Services& services, const Principal& principal,
                              const JobStatus& status, Format format);

/// Returns "queued at position 3, about 5 s", for example.
std::string queue_text(const JobStatus& status);

/// Returns a line for each finding of the sanitizer, or a line that says that there is none.
/// Returns an empty text if no sanitizer ran. The text is escaped. Defined in sanitizer_text.cc.
std::string sanitizer_text(const sandbox::Verdict& verdict);

/// Returns the text of a verdict. `op` is the verdict's operator, or null if the operator is not
/// known. Defined in verdict_text.cc.
std::string verdict_text(const sandbox::Verdict& verdict, const JobStatus& status, Format format,
                         const operators::Operator* op = nullptr);

/// Returns in one sentence what to do after this verdict. `op` is the verdict's operator, or null
/// if the operator is not known. Defined in next_step.cc.
std::string next_step(const sandbox::Verdict& verdict, const operators::Operator* op);

/// The maximum length of a diagnosis, in characters. A concise profile may take 400 tokens, which
/// are 1,280 characters at 3.2 characters for each token. Of these, 280 are for the job's handle
/// and the next step.
inline constexpr std::size_t kProfileChars = 1'000;

/// Returns the diagnosis of a profile ("memory-bound, 79 % of the roofline ..."), followed by the
/// detail that the caller asked for. Needs `verdict.profile`. The text is escaped. Defined in
/// profile_text.cc.
std::string profile_text(const sandbox::Verdict& verdict);

/// Draws a roofline as a PNG file of 900 x 600 pixels, and returns the bytes of the file. The chart
/// shows attainable FLOP/s over FLOP per byte; both axes are logarithmic. It has the roof of the
/// memory, the roof of the arithmetic units that the kernels use, a point for the submission and a
/// point for the oracle. Errors: unavailable in a build without cairo; invalid_argument if the
/// profile has no costs to draw. Defined in roofline_chart.cc.
Result<std::string> roofline_png(const sandbox::Profile& profile);

}  // namespace assay::tools
