#include "sandbox/job/target.h"
#include "tools/call/principal_of.h"
#include "tools/call/run_job.h"
#include "tools/call/schema_parts.h"
#include "tools/model/operator_job.h"
#include "tools/registry.h"

namespace assay::tools {
namespace {

using nlohmann::json;
using sandbox::ProfileDetail;

const std::vector<std::string> kDetails = {"summary", "artifacts", "timeline", "counters",
                                           "sass",    "source",    "roofline", "sanitize"};

struct ProfileArguments {
  SubmissionArguments submission;
  std::string case_id;  // empty: the last public case
  ProfileDetail detail = ProfileDetail::summary;
  std::string target;  // empty: the device's target

  static json schema(const Services& services) {
    json properties = SubmissionArguments::properties(services, sandbox::JobKind::profile);
    properties["case"] = text_property("Public case id; default: the last one", 0);
    properties["detail"] = choice_property(
        "More, as a digest and an artifact for `read_artifact`; sanitize: stray accesses and races "
        "(on a GPU)",
        kDetails, "summary");
    properties["target"] = text_property("To compile for; default: the device's", 0);
    return input_object(std::move(properties), {"operator"});
  }
  static Result<ProfileArguments> parse(const json& arguments) {
    ArgumentReader reader(arguments);
    ProfileArguments parsed;
    parsed.submission = SubmissionArguments::read(reader);
    reader.read("case", parsed.case_id);
    reader.read_name("detail", parsed.detail, sandbox::profile_detail_from, kDetails);
    reader.read("target", parsed.target);
    if (!parsed.target.empty()) {
      if (const Status good = check_target(parsed.target); !good) reader.refuse(good.error());
    }
    return reader.result(std::move(parsed));
  }
};

mcp::ToolResult profile(const Services& services, const ProfileArguments& arguments,
                        const mcp::RequestContext& context) {
  Result<sandbox::Job> job =
      make_job(services, principal_of(context), arguments.submission, sandbox::JobKind::profile);
  if (!job) return error_answer(job.error());
  if (const Status chosen = choose_case(*job, arguments.case_id); !chosen)
    return error_answer(chosen.error());
  job->detail = arguments.detail;
  job->want_artifacts = arguments.detail == ProfileDetail::artifacts;
  if (!arguments.target.empty()) job->targets = {arguments.target};
  return run_job(services, arguments.submission, std::move(*job), context);
}

}  // namespace

mcp::Tool profile_tool(const Services& services) {
  mcp::Tool tool;
  tool.name = "profile";
  tool.title = "Profile kernels";
  tool.description =
      "Shows what limits the speed of the code on one public case: the bound, the share of the "
      "roofline, registers, spills and occupancy of each kernel, the most expensive lines, and one "
      "suggestion. A GPU also gives the latency, and the oracle's and PyTorch's; without one, the "
      "compiled code is diagnosed.";
  tool.input_schema = ProfileArguments::schema(services);
  tool.output_schema = verdict_schema();
  tool.listed_output_schema = outline_of(tool.output_schema, verdict_outline());
  tool.annotations = annotations_of({});
  set_slow_handler<ProfileArguments>(
      tool, [&services](const ProfileArguments& arguments, const mcp::RequestContext& context) {
        return profile(services, arguments, context);
      });
  return tool;
}

}  // namespace assay::tools
