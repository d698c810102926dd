#include "tools/grading.h"
#include "tools/schema_parts.h"
#include "tools/tool_list.h"

namespace assay::tools {
namespace {

/// Public cases first, as the spec lists them.
Status complete(const operators::Operator& op, const nlohmann::json&, sandbox::Job& job) {
  job.baseline_source = op.oracle_source;
  for (const operators::Case& item : op.cases) {
    if (item.hidden) job.cases.push_back(case_request(item));
  }
  return {};
}

}  // namespace

Tool submit_tool(Services& services) {
  Tool tool;
  tool.name = "submit";
  tool.title = "Submit for grading";
  tool.description =
      "Grades the code for a run, on public and hidden cases, and times it where the device can. It counts: the scored tracks take one submission per "
      "operator. Once accepted it is graded even if the client goes away; `job` and `scorecard` show the verdict.";
  tool.input_schema = input_object({{"run", run_property("Required")},
                                    {"operator", operator_property()},
                                    {"code", code_property()},
                                    {"device", device_property(services.jobs.devices())},
                                    {"response_format", format_property()}},
                                   {"run", "operator", "code"});
  tool.output_schema = verdict_schema();
  tool.run = [&services](const nlohmann::json& arguments, const CallContext& context) {
    if (text_argument(arguments, "run").empty()) return error_answer({ErrorCode::invalid_argument, "`submit` needs a run; `start_run` gives a handle"});
    return grade(services, {.kind = sandbox::JobKind::grade, .cancel_on_hangup = false, .complete = complete}, arguments, context);
  };
  return tool;
}

}  // namespace assay::tools
