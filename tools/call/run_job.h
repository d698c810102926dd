// What compile, run_tests, profile and submit have in common: arguments to a job, the charge to a
// run, the wait, the answer. Thread-safe.
//
//   GradingRequest request = {.kind = JobKind::test, .cancel_on_hangup = true};
//   return grade(services, request, arguments, context);
#pragma once

#include <cstdint>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "base/result.h"
#include "tools/answer/answers.h"
#include "tools/model/tool.h"

namespace assay::tools {

struct GradingRequest {
  sandbox::JobKind kind = sandbox::JobKind::test;
  bool cancel_on_hangup =
      true;  // false: an accepted submission is graded whether or not its client stays
  /// Completes the job with what the tool's own arguments say. May be empty.
  std::function<Status(const nlohmann::json& arguments, sandbox::Job& job)> complete;
};

/// Checks everything, then charges, then queues: a call that is refused costs nothing.
Answer grade(Services& services, const GradingRequest& request, const nlohmann::json& arguments,
             const CallContext& context);

/// Follows a job for at most `wait_ms` (a patient caller's to its end) and answers with its verdict
/// or its handle.
Answer follow(Services& services, const std::string& job, std::int64_t wait_ms,
              bool cancel_on_hangup, Format format, const CallContext& context);

/// Refuses a name that is no device of this server, naming the valid ones. Empty: the default one.
Status check_device(JobService& jobs, const std::string& device);

/// Not empty, not above Limits::source_bytes, no zero bytes, UTF-8.
Status check_source(const std::string& source);

}  // namespace assay::tools
