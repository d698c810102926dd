#include "tools/call/run_job.h"
#include "tools/call/schema_parts.h"
#include "tools/model/target.h"
#include "tools/registry.h"

namespace assay::tools {
namespace {

using nlohmann::json;

constexpr const char* kDefaultTarget = "cuda:90";
constexpr std::size_t kMaxTargets = 4;

Status complete(const json& arguments, sandbox::Job& job) {
  job.want_artifacts = true;
  if (arguments.contains("targets")) {
    for (const json& target : arguments["targets"]) {
      if (target.is_string()) job.targets.push_back(target.get<std::string>());
    }
  }
  if (job.targets.empty()) job.targets = {kDefaultTarget};
  if (job.targets.size() > kMaxTargets)
    return fail(ErrorCode::invalid_argument,
                "at most " + std::to_string(kMaxTargets) + " targets a call");
  for (const std::string& target : job.targets) {
    if (Status good = check_target(target); !good) return good;
  }
  return {};
}

}  // namespace

Tool compile_tool(Services& services) {
  Tool tool;
  tool.name = "compile";
  tool.title = "Compile kernels without running them";
  tool.long_running = true;
  tool.description =
      "Compiles the kernels that the code launches for the operator's public cases. Needs no GPU, "
      "for any target. Answers registers, spills, shared memory "
      "and occupancy per kernel, or the diagnostics with their line; PTX and the like come as "
      "artifacts for `read_artifact`.";
  json targets = array_of(json{{"type", "string"}, {"maxLength", kMaxTargetBytes}});
  targets["description"] =
      "cuda:90 (Hopper, the default), cuda:80, cuda:100, hip:gfx942, ...; at most 4";
  targets["default"] = json::array({kDefaultTarget});
  tool.input_schema = input_object(
      {{"operator", operator_property()},
       {"code", code_property()},
       {"language", language_property()},
       {"targets", std::move(targets)},
       {"run", run_property("Charges the run's compile budget; leave out to practise")},
       {"device", device_property(services.jobs.devices())},
       {"response_format", format_property()}},
      {"operator", "code"});
  tool.output_schema = verdict_schema();
  tool.run = [&services](const json& arguments, const CallContext& context) {
    return grade(
        services,
        {.kind = sandbox::JobKind::compile, .cancel_on_hangup = true, .complete = complete},
        arguments, context);
  };
  return tool;
}

}  // namespace assay::tools
