#include <algorithm>
#include <cstdint>

#include "tools/call/principal_of.h"
#include "tools/call/run_job.h"
#include "tools/call/schema_parts.h"
#include "tools/registry.h"

namespace assay::tools {
namespace {

using nlohmann::json;

constexpr std::int64_t kMaxWaitS = 20;
// A `wait_s` above kMaxWaitS is not an error: the call waits kMaxWaitS seconds, and its answer says
// how to continue waiting.
constexpr std::int64_t kMaxAcceptedWaitS = 86'400;
constexpr std::int64_t kDefaultWaitS = 10;
constexpr std::int64_t kCancelWaitS = 2;

struct JobArguments {
  std::string job;
  std::int64_t wait_s = kDefaultWaitS;
  bool cancel = false;
  Format format = Format::concise;

  static json schema() {
    json wait_s = integer_property("Seconds to wait; more than " + std::to_string(kMaxWaitS) +
                                       " count as " + std::to_string(kMaxWaitS),
                                   0, kMaxAcceptedWaitS);
    wait_s["default"] = kDefaultWaitS;
    return input_object({{"job", text_property("Job handle, job_...", 0)},
                         {"wait_s", std::move(wait_s)},
                         {"cancel", boolean_property("Stop the job", false)},
                         {"response_format", format_property()}},
                        {"job"});
  }
  static Result<JobArguments> parse(const json& arguments) {
    JobArguments parsed;
    ArgumentReader reader(arguments);
    reader.read("job", parsed.job);
    reader.read("wait_s", parsed.wait_s);
    reader.read("cancel", parsed.cancel);
    reader.read("response_format", parsed.format);
    return reader.result(std::move(parsed));
  }
};

mcp::ToolResult wait_for_job(const Services& services, const JobArguments& arguments,
                             const mcp::RequestContext& context) {
  std::int64_t wait_s = arguments.wait_s;
  if (arguments.cancel) {
    if (const Status cancelled = services.jobs.cancel(principal_of(context), arguments.job);
        !cancelled)
      return error_answer(cancelled.error());
    wait_s = std::max(wait_s, kCancelWaitS);
  }
  return follow_job(services, arguments.job,
                    {.wait_ms = std::clamp<std::int64_t>(wait_s, 0, kMaxWaitS) * 1000,
                     .cancel_on_hangup = false,
                     .format = arguments.format},
                    context);
}

}  // namespace

mcp::Tool job_tool(const Services& services) {
  mcp::Tool tool;
  tool.name = "job";
  tool.title = "Wait for a job, or cancel it";
  tool.description =
      "Continues a call that was answered with status \"running\": waits up to wait_s seconds for "
      "the verdict. The verdict of a finished job can be read any number of times.";
  tool.input_schema = JobArguments::schema();
  tool.output_schema = verdict_schema();
  tool.listed_output_schema = outline_of(tool.output_schema, verdict_outline());
  tool.annotations = annotations_of({.idempotent = true});
  set_slow_handler<JobArguments>(
      tool, [&services](const JobArguments& arguments, const mcp::RequestContext& context) {
        return wait_for_job(services, arguments, context);
      });
  return tool;
}

}  // namespace assay::tools
