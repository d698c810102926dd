#include "sandbox/job/target.h"
#include "tools/call/principal_of.h"
#include "tools/call/run_job.h"
#include "tools/call/schema_parts.h"
#include "tools/model/operator_job.h"
#include "tools/registry.h"

namespace assay::tools {
namespace {

using nlohmann::json;

constexpr std::size_t kMaxTargets = 4;

std::vector<std::string> default_targets() { return {std::string(sandbox::kDefaultTarget)}; }

struct CompileArguments {
  SubmissionArguments submission;
  std::vector<std::string> targets = default_targets();

  static json schema(const Services& services) {
    json properties = SubmissionArguments::properties(services, sandbox::JobKind::compile);
    json targets = array_of(json{{"type", "string"}});
    targets["description"] =
        "At most " + std::to_string(kMaxTargets) + " targets: " + sandbox::target_names();
    targets["default"] = default_targets();
    properties["targets"] = std::move(targets);
    return input_object(std::move(properties), {"operator"});
  }
  static Result<CompileArguments> parse(const json& arguments) {
    ArgumentReader reader(arguments);
    CompileArguments parsed;
    parsed.submission = SubmissionArguments::read(reader);
    reader.read("targets", parsed.targets);
    if (parsed.targets.empty()) parsed.targets = default_targets();
    if (parsed.targets.size() > kMaxTargets)
      reader.refuse({ErrorCode::invalid_argument,
                     "`targets` has " + std::to_string(parsed.targets.size()) +
                         " entries; valid: 1 to " + std::to_string(kMaxTargets)});
    for (const std::string& target : parsed.targets) {
      if (const Status good = check_target(target); !good) reader.refuse(good.error());
    }
    return reader.result(std::move(parsed));
  }
};

mcp::ToolResult compile(const Services& services, const CompileArguments& arguments,
                        const mcp::RequestContext& context) {
  Result<sandbox::Job> job =
      make_job(services, principal_of(context), arguments.submission, sandbox::JobKind::compile);
  if (!job) return error_answer(job.error());
  job->want_artifacts = true;
  job->targets = arguments.targets;
  return run_job(services, arguments.submission, std::move(*job), context);
}

}  // namespace

mcp::Tool compile_tool(const Services& services) {
  mcp::Tool tool;
  tool.name = "compile";
  tool.title = "Compile kernels";
  tool.description =
      "Compiles the kernels that the code launches for the public cases; no target needs a GPU. "
      "Returns registers, spills, shared memory and occupancy, or the compiler's error with its "
      "line. `read_artifact` reads the PTX.";
  tool.input_schema = CompileArguments::schema(services);
  tool.output_schema = verdict_schema();
  tool.listed_output_schema = outline_of(tool.output_schema, verdict_outline());
  tool.annotations = annotations_of({});
  set_slow_handler<CompileArguments>(
      tool, [&services](const CompileArguments& arguments, const mcp::RequestContext& context) {
        return compile(services, arguments, context);
      });
  return tool;
}

}  // namespace assay::tools
