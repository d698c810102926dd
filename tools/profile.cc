#include "tools/call/run_job.h"
#include "tools/call/schema_parts.h"
#include "tools/model/operator_job.h"
#include "tools/model/target.h"
#include "tools/registry.h"

namespace assay::tools {
namespace {

using nlohmann::json;

Status complete(const json& arguments, sandbox::Job& job) {
  const std::string detail = text_argument(arguments, "detail");
  job.detail =
      detail.empty() ? sandbox::ProfileDetail::summary : sandbox::profile_detail_from(detail);
  if (!job.detail) return fail(ErrorCode::invalid_argument, "unknown detail '" + detail + "'");
  job.want_artifacts = job.detail == sandbox::ProfileDetail::artifacts;
  if (const std::string target = text_argument(arguments, "target"); !target.empty()) {
    if (Status good = check_target(target); !good) return good;
    job.targets = {target};
  }
  return choose_case(job, text_argument(arguments, "case"));
}

}  // namespace

Tool profile_tool(Services& services) {
  Tool tool;
  tool.name = "profile";
  tool.title = "Find out what bounds the code";
  tool.long_running = true;
  tool.description =
      "What keeps the code from being faster on one public case: the bound (memory, compute, "
      "latency, launch), the share of the roofline, latency against oracle "
      "and PyTorch where the device can time, registers, spills and occupancy per kernel, the "
      "lines with the most machine code, one suggestion. Needs no GPU: then it "
      "judges by the compiled kernels, for any target.";
  tool.input_schema = input_object(
      {{"operator", operator_property()},
       {"code", code_property()},
       {"language", language_property()},
       {"case", text_property("Public case id from `fetch_spec`; default: the last one")},
       {"detail",
        choice_property(
            "More, as a digest and an artifact for `read_artifact`. artifacts: PTX and launch "
            "plan; timeline: time per operation; counters: hardware counters; sass: "
            "machine code; source: instructions per line; roofline: a chart (PNG)",
            {"summary", "artifacts", "timeline", "counters", "sass", "source", "roofline"},
            "summary")},
       {"target", text_property("Judge by the code compiled for this: cuda:80, cuda:90, cuda:100, "
                                "hip:gfx942, hip:gfx950; default: the device's own",
                                kMaxTargetBytes)},
       {"run", run_property("Charges the run's profile budget; leave out to practise")},
       {"device", device_property(services.jobs.devices())},
       {"response_format", format_property()}},
      {"operator", "code"});
  tool.output_schema = verdict_schema();
  tool.run = [&services](const json& arguments, const CallContext& context) {
    return grade(
        services,
        {.kind = sandbox::JobKind::profile, .cancel_on_hangup = true, .complete = complete},
        arguments, context);
  };
  return tool;
}

}  // namespace assay::tools
