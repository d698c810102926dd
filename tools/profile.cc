#include "tools/grading.h"
#include "tools/operator_job.h"
#include "tools/schema_parts.h"
#include "tools/tool_list.h"

namespace assay::tools {
namespace {

using nlohmann::json;

Status complete(const json& arguments, sandbox::Job& job) {
  job.want_artifacts = text_argument(arguments, "detail") == "artifacts";
  return choose_case(job, text_argument(arguments, "case"));
}

}  // namespace

Tool profile_tool(Services& services) {
  Tool tool;
  tool.name = "profile";
  tool.title = "Measure one case";
  tool.long_running = true;
  tool.description =
      "Times the code on one public case where the device can time: latency with its 95 % interval, speed-up over the oracle and PyTorch, share of the "
      "roofline. Without a GPU it answers what the compiled kernels show (registers, spills, occupancy) and hints.";
  tool.input_schema =
      input_object({{"operator", operator_property()},
                    {"code", code_property()},
                    {"case", text_property("Public case id from `fetch_spec`; default: the last one")},
                    {"detail", choice_property("artifacts: also PTX and launch plan, for `read_artifact`", {"summary", "artifacts"}, "summary")},
                    {"run", run_property("Charges the run's profile budget; leave out to practise")},
                    {"device", device_property(services.jobs.devices())},
                    {"response_format", format_property()}},
                   {"operator", "code"});
  tool.output_schema = verdict_schema();
  tool.run = [&services](const json& arguments, const CallContext& context) {
    return grade(services, {.kind = sandbox::JobKind::profile, .cancel_on_hangup = true, .complete = complete}, arguments, context);
  };
  return tool;
}

}  // namespace assay::tools
