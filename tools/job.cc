#include <algorithm>
#include <cstdint>

#include "tools/call/run_job.h"
#include "tools/call/schema_parts.h"
#include "tools/registry.h"

namespace assay::tools {
namespace {

constexpr std::int64_t kMaxWaitS = 20;
constexpr std::int64_t kMaxAskedWaitS =
    86'400;  // more than is waited is no error: the answer says how to go on
constexpr std::int64_t kDefaultWaitS = 10;
constexpr std::int64_t kCancelWaitS = 2;

}  // namespace

Tool job_tool(Services& services) {
  Tool tool;
  tool.name = "job";
  tool.title = "Wait for a job, or cancel it";
  tool.long_running = true;
  tool.description =
      "Continues work that was answered with status \"running\": waits up to wait_s seconds for "
      "the verdict. With cancel=true it stops the job. A verdict "
      "can be fetched again as often as you like.";
  nlohmann::json wait_s = integer_property(
      "Seconds to wait, " + std::to_string(kMaxWaitS) + " at most", 0, kMaxAskedWaitS);
  wait_s["default"] = kDefaultWaitS;
  tool.input_schema = input_object({{"job", text_property("Job handle, job_...", 64)},
                                    {"wait_s", std::move(wait_s)},
                                    {"cancel", boolean_property("Stop it", false)},
                                    {"response_format", format_property()}},
                                   {"job"});
  tool.output_schema = verdict_schema();
  tool.idempotent = true;
  tool.run = [&services](const nlohmann::json& arguments, const CallContext& context) {
    const std::string job = text_argument(arguments, "job");
    std::int64_t wait = arguments.value("wait_s", kDefaultWaitS);
    if (arguments.value("cancel", false)) {
      if (const Status cancelled = services.jobs.cancel(job); !cancelled)
        return error_answer(cancelled.error());
      wait = std::max(wait, kCancelWaitS);
    }
    return follow(services, job, std::clamp<std::int64_t>(wait, 0, kMaxWaitS) * 1000, false,
                  format_of(arguments), context);
  };
  return tool;
}

}  // namespace assay::tools
