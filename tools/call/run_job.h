// Contains the code that the tools compile, run_tests, profile and submit share. Each of these
// tools reads a submission from its arguments, makes a job from the submission, and runs the job.
// run_job() charges the agent's budget, queues the job, waits until the job ends, and answers with
// the job's verdict. Thread-safe.
//
//   Result<sandbox::Job> job = make_job(services, principal_of(context), submission,
//                                     sandbox::JobKind::test);
//   if (!job) return error_answer(job.error());
//   return run_job(services, submission, std::move(*job), context);
#pragma once

#include <cstdint>
#include <string>

#include "base/json.h"
#include "base/result.h"
#include "server/mcp/core/tool.h"
#include "tools/call/arguments.h"
#include "tools/call/source_arguments.h"
#include "tools/model/services.h"

namespace assay::tools {

/// The arguments that the four tools share.
struct SubmissionArguments {
  std::string operator_name;
  SourceArguments source;
  std::string language;  // empty: that of the source or, if it has none, Python
  std::string run;       // the handle of the run to charge; empty: practice, which has no budget
  std::string device;    // empty: the server's first device
  std::string call_id;   // names the call in its run, so that it can be repeated; empty: no name
  Format format = Format::concise;

  /// Returns the properties of these arguments for the input schema of the tool for this kind.
  static nlohmann::json properties(const Services& services, sandbox::JobKind kind);
  static SubmissionArguments read(ArgumentReader& reader);
};

/// Makes a job of `kind` for the submission of `principal`. Does not charge the run. Returns an
/// error if the operator, the device, the source or the language is invalid.
Result<sandbox::Job> make_job(const Services& services, const Principal& principal,
                              const SubmissionArguments& submission, sandbox::JobKind kind);

/// Charges the run, queues the job, and waits for its verdict for at most
/// AnswerLimits::answer_within_ms. If the client disconnects, the job is cancelled. There are two
/// exceptions: an accepted submission is always graded, and the client may repeat a call that has a
/// `call_id`. If the server stops, no job is cancelled: the answer has the job's handle, and the
/// next server runs the job again.
mcp::ToolResult run_job(const Services& services, const SubmissionArguments& submission,
                        sandbox::Job job, const mcp::RequestContext& context);

struct FollowOptions {
  // The longest wait. A call that runs as a task waits for up to a day instead, unless this is 0.
  std::int64_t wait_ms = 0;
  bool cancel_on_hangup = false;  // whether the job is cancelled if the client disconnects
  Format format = Format::concise;
};

/// Waits for a job and reports the job's progress to the client. Answers with the verdict, or with
/// the job's handle if the job has not ended.
mcp::ToolResult follow_job(const Services& services, const std::string& job,
                           const FollowOptions& options, const mcp::RequestContext& context);

/// Returns an error if this server has no device of this name. The error lists the valid names. An
/// empty name is valid and means the default device.
Status check_device(const JobService& jobs, const std::string& device);

}  // namespace assay::tools
