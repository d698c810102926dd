#include "tools/call/run_job.h"
#include "tools/call/schema_parts.h"
#include "tools/registry.h"

namespace assay::tools {

Tool run_tests_tool(Services& services) {
  Tool tool;
  tool.name = "run_tests";
  tool.title = "Test on the public cases";
  tool.long_running = true;
  tool.description =
      "Runs the code on the operator's public cases with fresh random inputs and compares with the "
      "reference. Answers pass, or which case is wrong by how "
      "much, where the first wrong element is, and the line of an error.";
  tool.input_schema =
      input_object({{"operator", operator_property()},
                    {"code", code_property()},
                    {"language", language_property()},
                    {"run", run_property("Charges the run's test budget; leave out to practise")},
                    {"device", device_property(services.jobs.devices())},
                    {"response_format", format_property()}},
                   {"operator", "code"});
  tool.output_schema = verdict_schema();
  tool.run = [&services](const nlohmann::json& arguments, const CallContext& context) {
    return grade(services,
                 {.kind = sandbox::JobKind::test, .cancel_on_hangup = true, .complete = nullptr},
                 arguments, context);
  };
  return tool;
}

}  // namespace assay::tools
