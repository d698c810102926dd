// The parts that compile, run_tests, profile and submit share. Each of these tools reads a
// submission from its arguments, makes a job from it, and runs the job. Running charges the run's
// budget, queues the job and waits for it; the answer is the job's verdict. Thread-safe.
//
//   Result<sandbox::Job> job = make_job(services, submission, sandbox::JobKind::test);
//   if (!job) return error_answer(job.error());
//   return run_job(services, submission, std::move(*job), context);
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "base/result.h"
#include "server/mcp/core/tool.h"
#include "tools/call/arguments.h"
#include "tools/model/services.h"

namespace assay::tools {

/// The arguments that the four tools share.
struct SubmissionArguments {
  std::string operator_name, code;
  std::string language;  // empty: Python
  std::string run;       // empty: practice, which charges no run
  std::string device;    // empty: the server's first
  Format format = Format::concise;

  /// The properties of the input schema. `run_use` says what the tool does with a run.
  static nlohmann::json properties(const Services& services, std::string_view run_use);
  static SubmissionArguments read(ArgumentReader& reader);
};

/// Makes a job of `kind` for the submission. Refuses an invalid operator, device, source or
/// language. Does not charge the run.
Result<sandbox::Job> make_job(const Services& services, const SubmissionArguments& submission,
                              sandbox::JobKind kind);

/// Submits the job, which charges the run. Then waits for its verdict, at most
/// AnswerLimits::answer_within_ms. If the client disconnects, the job is cancelled; only a grade
/// goes on, because an accepted submission is always graded.
mcp::ToolResult run_job(const Services& services, const SubmissionArguments& submission,
                        sandbox::Job job, const mcp::RequestContext& context);

struct FollowOptions {
  std::int64_t wait_ms = 0;  // a task waits until the job ends, unless this is 0
  bool cancel_on_hangup = false;
  Format format = Format::concise;
};

/// Waits for a job and reports its progress to the client. Answers with its verdict, or with its
/// handle if it has not ended.
mcp::ToolResult follow_job(const Services& services, const std::string& job,
                           const FollowOptions& options, const mcp::RequestContext& context);

/// Refuses the name of a device that this server does not have. The error lists the valid names. An
/// empty name is the default device.
Status check_device(const JobService& jobs, const std::string& device);

/// Refuses a source that is empty, larger than Limits::source_bytes, binary or not UTF-8.
Status check_source(const std::string& source);

}  // namespace assay::tools
