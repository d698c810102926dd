#include "tools/call/principal_of.h"
#include "tools/call/run_job.h"
#include "tools/call/schema_parts.h"
#include "tools/registry.h"

namespace assay::tools {
namespace {

using nlohmann::json;

struct RunTestsArguments {
  SubmissionArguments submission;

  static json schema(const Services& services) {
    return input_object(SubmissionArguments::properties(services, sandbox::JobKind::test),
                        {"operator"});
  }
  static Result<RunTestsArguments> parse(const json& arguments) {
    ArgumentReader reader(arguments);
    return reader.result(RunTestsArguments{SubmissionArguments::read(reader)});
  }
};

}  // namespace

mcp::Tool run_tests_tool(const Services& services) {
  mcp::Tool tool;
  tool.name = "run_tests";
  tool.title = "Test on the public cases";
  tool.description =
      "Runs the code on the operator's public cases with fresh random inputs and compares the "
      "outputs with the reference. Returns pass; or which case is wrong, by how much and at which "
      "element; or the line of an error.";
  tool.input_schema = RunTestsArguments::schema(services);
  tool.output_schema = verdict_schema();
  tool.listed_output_schema = outline_of(tool.output_schema, verdict_outline());
  tool.annotations = annotations_of({});
  set_slow_handler<RunTestsArguments>(
      tool, [&services](const RunTestsArguments& arguments, const mcp::RequestContext& context) {
        Result<sandbox::Job> job =
            make_job(services, principal_of(context), arguments.submission, sandbox::JobKind::test);
        if (!job) return error_answer(job.error());
        return run_job(services, arguments.submission, std::move(*job), context);
      });
  return tool;
}

}  // namespace assay::tools
