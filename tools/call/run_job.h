// What compile, run_tests, profile and submit share. Each reads a submission from its arguments,
// makes a job of it, and runs the job: the job is submitted, which charges the run's budget, and
// followed, and its verdict is the answer. Thread-safe.
//
//   Result<sandbox::Job> job = make_job(services, arguments.submission, JobKind::test);
//   if (!job) return error_answer(job.error());
//   return run_job(services, arguments.submission, std::move(*job), context);
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
  std::string run;       // empty: practice, which no run is charged for
  std::string device;    // empty: the server's first
  Format format = Format::concise;

  /// The properties of the input schema. `run_use` says what the tool does with a run.
  static nlohmann::json properties(const Services& services, std::string_view run_use);
  static SubmissionArguments read(ArgumentReader& reader);
};

/// A job of `kind` for the submission. Refuses an operator, device, source or language that is not
/// valid, before anything is charged.
Result<sandbox::Job> make_job(const Services& services, const SubmissionArguments& submission,
                              sandbox::JobKind kind);

/// Submits the job, which charges the run, and follows it until its verdict is there or
/// AnswerLimits::answer_within_ms have passed. A job whose client goes away is cancelled, except a
/// grade: an accepted submission is always graded.
mcp::ToolResult run_job(const Services& services, const SubmissionArguments& submission,
                        sandbox::Job job, const mcp::RequestContext& context);

struct FollowOptions {
  std::int64_t wait_ms = 0;  // a task waits for the job's end instead, unless this is 0
  bool cancel_on_hangup = false;
  Format format = Format::concise;
};

/// Waits for a job, reporting progress, and answers with its verdict or its handle.
mcp::ToolResult follow_job(const Services& services, const std::string& job,
                           const FollowOptions& options, const mcp::RequestContext& context);

/// Refuses a name that is no device of this server, and names the valid ones. An empty name is the
/// default device.
Status check_device(const JobService& jobs, const std::string& device);

/// Refuses a source that is empty, larger than Limits::source_bytes, binary or not UTF-8.
Status check_source(const std::string& source);

}  // namespace assay::tools
