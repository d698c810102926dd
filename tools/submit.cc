#include "tools/call/run_job.h"
#include "tools/call/schema_parts.h"
#include "tools/registry.h"

namespace assay::tools {
Tool submit_tool(Services& services) {
  Tool tool;
  tool.name = "submit";
  tool.title = "Submit for grading";
  tool.long_running = true;
  tool.description =
      "Grades the code for a run, on public and hidden cases, and times the large ones where the "
      "device can. It counts: the scored tracks take one submission "
      "per "
      "operator. Once accepted it is graded even if the client goes away; `job` and `scorecard` "
      "show the verdict.";
  tool.input_schema = input_object({{"run", run_property("Required")},
                                    {"operator", operator_property()},
                                    {"code", code_property()},
                                    {"language", language_property()},
                                    {"device", device_property(services.jobs.devices())},
                                    {"response_format", format_property()}},
                                   {"run", "operator", "code"});
  tool.output_schema = verdict_schema();
  tool.run = [&services](const nlohmann::json& arguments, const CallContext& context) {
    if (text_argument(arguments, "run").empty())
      return error_answer(
          {ErrorCode::invalid_argument, "`submit` needs a run; `start_run` gives a handle"});
    return grade(services,
                 {.kind = sandbox::JobKind::grade, .cancel_on_hangup = false, .complete = nullptr},
                 arguments, context);
  };
  return tool;
}

}  // namespace assay::tools
